// How do I tell what a verb's return value means?

#include <cerrno>
#include <system_error>

// For verbs that return a pointer: NULL on failure, the reason in errno.
template <class T>
[[nodiscard]] T* made(T* result, const char* verb) {
  if (result == nullptr) {
    throw std::system_error(errno, std::generic_category(), verb);
  }
  return result;
}

// For verbs that return 0, or the errno value itself. errno is not looked at.
void done(int result, const char* verb) {
  if (result != 0) {
    throw std::system_error(result, std::generic_category(), verb);
  }
}

// For librdmacm and the few verbs that return -1, the reason in errno.
int not_minus_one(int result, const char* verb) {
  if (result == -1) {
    throw std::system_error(errno, std::generic_category(), verb);
  }
  return result;
}
