// Never built: CMake says what it would be built with, and so how any lab is.
int main() { return 0; }
