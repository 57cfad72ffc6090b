/* sanitized.h: for tests to leave out long searches where sanitizers make everything ten times slower.
 * What they compare is compared in the release build; sanitizers have seen the code in shorter ones:
 *     if (EC_SANITIZED)
 *         skip();
 */
#ifndef EC_SANITIZED_H
#define EC_SANITIZED_H

#ifdef EC_TEST_SANITIZED
enum { EC_SANITIZED = 1 };
#else
enum { EC_SANITIZED = 0 };
#endif

#endif
