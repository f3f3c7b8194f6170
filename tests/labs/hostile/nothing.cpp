// Ends at once, as if all had gone well.
int main() { return 0; }
