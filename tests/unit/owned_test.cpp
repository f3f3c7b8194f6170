// common/owned: each object is destroyed once, in reverse order, and a destroy that fails is not swallowed.
#include "common/owned.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

// Like a verb these two are in no namespace, so that their names are reported plain.
static int busy_destroy(int*) {
  errno = EACCES;  // must not be taken for the reason
  return EBUSY;
}

static int minus_one_destroy(int*) {
  errno = ENOENT;
  return -1;
}

namespace {

struct Object {
  int number;
};

std::vector<int> destroyed;  // the numbers of the objects, in the order of their destruction

int destroy(Object* object) {
  destroyed.push_back(object->number);
  return 0;
}

void destroy_void(Object* object) { destroyed.push_back(object->number); }

using Thing = lab::Owned<Object, destroy>;
using Busy = lab::Owned<int, busy_destroy>;
using MinusOne = lab::Owned<int, minus_one_destroy>;

class Owned : public testing::Test {
protected:
  void SetUp() override { destroyed.clear(); }
};

// A failed destroy is counted for the rest of the process, and run() looks at the count: such a test runs in a child.
using OwnedDeathTest = Owned;

TEST_F(Owned, DestroysOnce) {
  Object object{1};
  { const Thing owner{&object}; }
  EXPECT_EQ(destroyed, std::vector{1});
  EXPECT_EQ(lab::failed_destroys(), 0);
}

TEST_F(Owned, DestroysInReverseOrderOfDeclaration) {
  Object pd{1};
  Object cq{2};
  Object qp{3};
  {
    const Thing first{&pd};
    const Thing second{&cq};
    const Thing third{&qp};
  }
  EXPECT_EQ(destroyed, (std::vector{3, 2, 1}));
}

TEST_F(Owned, DestroysWhenAnExceptionPasses) {
  Object object{1};
  EXPECT_THROW(
      {
        const Thing owner{&object};
        throw 1;
      },
      int);
  EXPECT_EQ(destroyed, std::vector{1});
}

TEST_F(Owned, NullIsNotDestroyed) {
  { const Thing owner{nullptr}; }
  { const Thing owner; }
  EXPECT_TRUE(destroyed.empty());
}

TEST_F(Owned, AMovedFromOwnerOwnsNothing) {
  Object object{1};
  {
    Thing from{&object};
    const Thing to = std::move(from);
    EXPECT_EQ(from, nullptr);  // NOLINT(bugprone-use-after-move): this is what is tested
    EXPECT_TRUE(destroyed.empty());
  }
  EXPECT_EQ(destroyed, std::vector{1});
}

TEST_F(Owned, MoveAssignmentDestroysWhatWasOwnedBefore) {
  Object before{1};
  Object after{2};
  {
    Thing owner{&before};
    owner = Thing{&after};
    EXPECT_EQ(destroyed, std::vector{1});
  }
  EXPECT_EQ(destroyed, (std::vector{1, 2}));
}

TEST_F(Owned, AReleasedObjectIsNotDestroyed) {
  Object object{1};
  {
    Thing owner{&object};
    EXPECT_EQ(owner.release(), &object);
  }
  EXPECT_TRUE(destroyed.empty());
}

TEST_F(Owned, TakesADestroyFunctionThatReturnsNothing) {
  Object object{1};
  { const lab::Owned<Object, destroy_void> owner{&object}; }
  EXPECT_EQ(destroyed, std::vector{1});
  EXPECT_EQ(lab::failed_destroys(), 0);
}

TEST_F(Owned, CostsNoMoreThanAPointer) { EXPECT_EQ(sizeof(Thing), sizeof(void*)); }

TEST_F(OwnedDeathTest, AFailedDestroyIsReportedByNameAndCounted) {
  EXPECT_EXIT(
      {
        int object = 1;
        { const Busy owner{&object}; }
        { const Busy owner{&object}; }
        std::exit(lab::failed_destroys());
      },
      testing::ExitedWithCode(2), "^error: busy_destroy: EBUSY \\(Device or resource busy\\)");
}

TEST_F(OwnedDeathTest, MinusOneTakesTheReasonFromErrno) {
  EXPECT_EXIT(
      {
        int object = 1;
        { const MinusOne owner{&object}; }
        std::exit(lab::failed_destroys());
      },
      testing::ExitedWithCode(1), "^error: minus_one_destroy: ENOENT");
}

TEST_F(OwnedDeathTest, TheReportHasTheLikelyCause) {
  EXPECT_EXIT(
      {
        lab::report_failed_destroy("ibv_destroy_cq", EBUSY);
        std::exit(lab::failed_destroys());
      },
      testing::ExitedWithCode(1),
      "^error: ibv_destroy_cq: EBUSY .*Likely: a QP or SRQ still uses this completion queue");
}

}  // namespace
