#pragma once

/// Programs and libraries of the checkout that were built anew while their old version still runs on this host.
///
/// Linux's 9p does not look again at a name that is in use: who runs such a file gets the pages of the old one. So this
/// process, and what it starts, get a mount namespace in which a copy of the new file lies over each of them. The
/// copies go with the last process of the namespace.
///
/// @param checkout  absolute path of the checkout
/// @return false when there is such a file and it could not be replaced; standard error says why
bool replace_stale(const char* checkout);
