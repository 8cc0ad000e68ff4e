// Functions of the libraries that a process has loaded, by name. This library's own ones are never meant: they stand
// before those.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heptad::drop_in {

using AnyFunction = void (*)();

/// What `dlsym` finds; RTLD_NEXT: after this library. Null: none, or ours.
AnyFunction function_in_order(void* order, const char* name);

/// In an object that is loaded, or in what that was linked with; null as above. Nothing is loaded.
AnyFunction function_of_object(const std::string& path, const char* name);

/// In any object of the process, newest first: libraries inside of Python's wheels are loaded privately, so that no
/// search by name alone meets them.
AnyFunction function_in_any_object(const char* name);

/// All of that name: of the process and of every object in it.
std::vector<AnyFunction> functions_in_all_objects(const char* name);
/// How often an object was loaded or unloaded since the process began: while that is the same, so are the functions.
std::uint64_t changes_of_objects();

/// The object that an address lies in; empty: none that is known.
struct LoadedObject {
    const void* base = nullptr;
    std::string path;
};
LoadedObject object_at(const void* address);

}  // namespace heptad::drop_in
