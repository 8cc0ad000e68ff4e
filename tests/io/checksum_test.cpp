// What a hash of samples sees of a file, and what only the hash of all bytes sees.
#include "io/checksum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace heptad {
namespace {

ReadSome from_memory(const std::string& content) {
    return [&content](void* to, std::size_t bytes, std::int64_t offset) {
        const std::size_t got = std::min(bytes, content.size() - static_cast<std::size_t>(offset));
        std::memcpy(to, content.data() + offset, got);
        return static_cast<ssize_t>(got);
    };
}

std::uint64_t samples_of(const std::string& content) {
    return sampled_hash(from_memory(content), static_cast<std::int64_t>(content.size()), "text");
}
std::uint64_t hash_of(const std::string& content) {
    return whole_hash(from_memory(content), static_cast<std::int64_t>(content.size()), "text");
}

std::string numbered(std::size_t bytes) {
    std::string content(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) {
        content[i] = static_cast<char>(i * 7 + i / 251);
    }
    return content;
}

TEST(SampledHash, sees_the_first_and_the_last_byte_and_any_stretch_of_a_sixtieth) {
    const std::string content = numbered(10'000'000);
    const std::uint64_t samples = samples_of(content);
    EXPECT_EQ(samples_of(content), samples);
    const std::size_t stretch = content.size() / 60;
    for (std::size_t first = 0; first + stretch <= content.size(); first += stretch / 3) {
        std::string other = content;
        std::fill_n(other.begin() + static_cast<std::ptrdiff_t>(first), stretch, 'x');
        EXPECT_NE(samples_of(other), samples) << first;
    }
    for (const std::size_t place : {std::size_t{0}, content.size() - 1}) {
        std::string other = content;
        other[place] ^= 1;
        EXPECT_NE(samples_of(other), samples) << place;
    }
}

TEST(SampledHash, sees_every_byte_of_a_file_as_long_as_its_samples) {
    const std::string content = numbered(60'000);
    for (std::size_t place = 0; place < content.size(); place += 997) {
        std::string other = content;
        other[place] ^= 4;
        EXPECT_NE(samples_of(other), samples_of(content)) << place;
    }
    EXPECT_EQ(samples_of(""), samples_of(""));
    EXPECT_NE(samples_of("a"), samples_of("b"));
}

TEST(WholeHash, sees_one_byte_between_the_samples) {
    const std::string content = numbered(10'000'000);
    std::string other = content;
    other[80'000] ^= 1;  // samples are 158 thousand bytes apart
    EXPECT_EQ(samples_of(other), samples_of(content));
    EXPECT_NE(hash_of(other), hash_of(content));
    EXPECT_EQ(hash_of(content), hash_of(numbered(10'000'000)));
    EXPECT_NE(hash_of(content.substr(1)), hash_of(content));
}

TEST(SampledHash, names_a_file_that_shrinks) {
    const std::string content = numbered(5000);
    try {
        sampled_hash(from_memory(content), 6000, "shrunk.npy");
        FAIL() << "nothing was thrown";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("shrunk.npy"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace heptad
