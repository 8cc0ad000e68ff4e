// State that outlives everything: shared by all threads, never destroyed, and whole in the child of a fork.
//
//   Once<T>       made by the first who asks, then only read
//   Guarded<T>    for one thread at a time
//   OncePerKey    made by the first who asks with that key
//   per_thread    one object per thread
//
// Products may still run in other threads, or be asked for by destructors, while the process ends; so nothing that a
// product uses is ever destroyed. And a fork copies memory at any moment, but of the threads only the one that forks: a
// std::mutex, std::once_flag or function-local static that another thread had taken stays taken for ever in the child.
// These here know of that: what a thread of the parent held counts as free, and what it may have left half made or half
// changed is made anew. Declare them `static constinit`: they need no guard and no destructor.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <utility>

namespace heptad {

/// How many forks lie between this process and the one that loaded the library: 0 in the latter.
std::uint32_t process_generation() noexcept;

/// A mutex that the child of a fork finds free.
class ForkLock {
public:
    constexpr ForkLock() = default;
    ForkLock(const ForkLock&) = delete;
    ForkLock& operator=(const ForkLock&) = delete;

    /// True: a thread that does not exist in this process held it when this process was forked.
    [[nodiscard]] bool lock() noexcept;
    void unlock() noexcept;

private:
    std::atomic<std::uint32_t> word_{0};  // 4 * generation + state
};

/// An object that is made on first use and lives for ever.
template <class T>
class Once {
public:
    constexpr Once() = default;

    /// make() is called by one thread at a time until it returns; what it throws comes back.
    template <class Make>
    T& get(Make&& make) {
        T* there = object_.load(std::memory_order_acquire);
        return there != nullptr ? *there : make_now(std::forward<Make>(make));
    }

private:
    template <class Make>
    T& make_now(Make&& make) {
        struct Holding {
            ForkLock& mutex;
            explicit Holding(ForkLock& m) : mutex(m) { static_cast<void>(mutex.lock()); }
            ~Holding() { mutex.unlock(); }
        } const holding(mutex_);
        T* there = object_.load(std::memory_order_acquire);
        if (there == nullptr) {
            there = new T(std::forward<Make>(make)());
            object_.store(there, std::memory_order_release);
        }
        return *there;
    }

    std::atomic<T*> object_{nullptr};
    ForkLock mutex_;
};

/// An object that lives for ever, for one thread at a time: `const auto store = guarded.lock(); store->...`.
template <class T>
class Guarded {
public:
    class Access {
    public:
        explicit Access(Guarded& owner) : owner_(owner) {
            const bool may_be_half_changed = owner_.mutex_.lock();
            if (may_be_half_changed || owner_.object_ == nullptr) {
                try {
                    owner_.object_ = new T();  // the other one is left as it is: parts of it may be in use
                } catch (...) {
                    owner_.object_ = nullptr;
                    owner_.mutex_.unlock();
                    throw;
                }
            }
        }
        ~Access() { owner_.mutex_.unlock(); }
        Access(const Access&) = delete;
        Access& operator=(const Access&) = delete;

        T& operator*() const { return *owner_.object_; }
        T* operator->() const { return owner_.object_; }

    private:
        Guarded& owner_;
    };

    constexpr Guarded() = default;
    [[nodiscard]] Access lock() { return Access(*this); }

private:
    ForkLock mutex_;
    T* object_ = nullptr;
};

/// Objects by a key, each made when it is first asked for; references stay valid.
template <class Key, class T>
class OncePerKey {
public:
    constexpr OncePerKey() = default;

    template <class Make>
    const T& get(const Key& key, const Make& make) {
        const auto all = all_.lock();
        const auto found = all->find(key);
        return found != all->end() ? found->second : all->emplace(key, make()).first->second;
    }

private:
    Guarded<std::map<Key, T>> all_;
};

/// The calling thread's own T, made on first use and deleted when the thread ends. Who multiplies even later (in the
/// destructor of another thread_local or of a static) gets a new one. Tag tells equal types apart.
template <class Tag, class T>
T& per_thread() {
    static thread_local constinit T* object = nullptr;  // trivial: still there when `keeper` has gone
    if (object == nullptr) [[unlikely]] {
        object = new T();
        static thread_local const struct Keeper {
            T*& kept;
            ~Keeper() { delete std::exchange(kept, nullptr); }
        } keeper{object};
    }
    return *object;
}

}  // namespace heptad
