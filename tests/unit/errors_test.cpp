#include "common/errors.hpp"

#include <gtest/gtest.h>

TEST(Placeholder, WillBeReplaced) { EXPECT_EQ(lab::errno_text(EINVAL), "EINVAL (Invalid argument)"); }
