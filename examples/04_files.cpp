// Matrices in files that need not fit in memory: multiplied piece by piece, with progress, and checked.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <heptad/files.hpp>

namespace {

/// An n x n matrix of f32 as NumPy writes it: element (i, j) is i for A, and 1 on the diagonal for B.
void write_npy(const std::string& path, std::size_t n, bool diagonal) {
    std::string header =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(n) + ", " + std::to_string(n) + "), }";
    header.resize(128 - 10 - 1, ' ');  // the elements begin at byte 128
    header += '\n';
    std::ofstream file(path, std::ios::binary);
    file << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(header.size()) << '\0' << header;
    std::vector<float> row(n);
    for (std::size_t i = 0; i < n; ++i) {
        row.assign(n, diagonal ? 0.0F : static_cast<float>(i));
        row[i] = diagonal ? 1.0F : row[i];
        file.write(reinterpret_cast<const char*>(row.data()), static_cast<std::streamsize>(n * sizeof(float)));
    }
}

}  // namespace

int main() {
    const std::size_t n = 1000;
    write_npy("04_A.npy", n, false);
    write_npy("04_B.npy", n, true);

    heptad::FileOptions options;
    options.memory_bytes = 4 << 20;  // the three matrices take 12 MB
    options.verify = true;
    double shown = 0;
    options.progress = [&](const heptad::Progress& progress) { shown = progress.fraction; };
    const heptad::FileReport report = heptad::multiply_files("04_A.npy", "04_B.npy", "04_C.npy", options);
    std::cout << "in pieces: " << (report.in_pieces ? "yes" : "no")
              << ", verified: " << (report.verified ? "yes" : "no") << ", " << 100 * shown << " %\n";

    std::ifstream a("04_A.npy", std::ios::binary), c("04_C.npy", std::ios::binary);
    a.seekg(-4, std::ios::end);
    c.seekg(-4, std::ios::end);
    float last_of_a = 0, last_of_c = 0;
    a.read(reinterpret_cast<char*>(&last_of_a), 4);
    c.read(reinterpret_cast<char*>(&last_of_c), 4);
    std::cout << "last element: " << last_of_c << " (expected " << last_of_a << ")\n";
    for (const char* file : {"04_A.npy", "04_B.npy", "04_C.npy"}) {
        std::remove(file);
    }
    return last_of_a == last_of_c ? 0 : 1;
}

// Output:
// in pieces: yes, verified: yes, 100 %
// last element: 999 (expected 999)
