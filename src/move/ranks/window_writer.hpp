// A .npy file that several ranks write windows of, each its own: made under a temporary name that ends in .partial,
// which becomes the final one when all of them are done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/transfer.hpp"
#include "move/ranks/window_source.hpp"

namespace heptad {

/// Writes so many bytes at an offset. Throws Error(resource) for a full disk, Error(input) for other refusals.
void write_at(int descriptor, const void* from, std::int64_t bytes, std::int64_t offset, const std::string& name);

/// Rows of a part of C that are moved at a time: some megabytes.
std::vector<Window> slices(const Window& part, Type type);

class WindowWriter {
public:
    /// What of the whole matrix the file holds, and the type of its elements; in memory they are type_in_memory().
    struct Shape {
        Window held;
        Type type = Type::f32;
        bool rounds_once = false;
    };

    /// The rank that makes the file: header, and its full length reserved where the file system can. Replaces a
    /// leftover of an earlier run. Throws Error(input) or Error(resource).
    static WindowWriter create(const std::string& path, const Shape& shape);
    /// The others, after that.
    static WindowWriter open(const std::string& path, const Shape& shape);
    /// Is there a temporary of an earlier run, with that header and its full length, that open() may go on with?
    static bool can_go_on(const std::string& path, const Shape& shape);
    /// Removes the temporary, unless it was published or is kept: by whichever rank fails.
    ~WindowWriter();
    WindowWriter(WindowWriter&& other) noexcept;
    WindowWriter& operator=(WindowWriter&&) = delete;

    /// Rounds elements in memory to what the file will hold: read back, they have the same bits.
    void round(void* elements, std::int64_t count) const;
    /// A window of the whole matrix within what the file holds; the elements lie row by row, without gaps. Any thread.
    void write(const Window& window, const void* from) const;
    /// Reads back what was written.
    void read(const Window& window, void* to) const;
    void sync() const;
    /// Gives it the final name. After every rank's sync().
    void publish();
    /// Another rank publishes, or a later job may go on with it: the temporary stays when this object ends.
    void keep(bool keeps = true) { removes_ = !keeps; }

private:
    WindowWriter(const std::string& path, const Shape& shape, int flags);
    /// Offset of the window's row i.
    std::int64_t row_offset(const Window& window, std::int64_t i) const;
    bool is_in_one_piece(const Window& window) const;
    bool converts() const { return type_in_memory(shape_.type, shape_.rounds_once) != shape_.type; }

    std::string path_, temporary_;
    Shape shape_;
    std::int64_t header_bytes_ = 0;
    Descriptor file_;
    bool removes_ = true;
};

}  // namespace heptad
