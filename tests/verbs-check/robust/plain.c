/* A C program that leaves a PD behind. */
#include <infiniband/verbs.h>
#include <stdio.h>

int main(void) {
  struct ibv_device** list = ibv_get_device_list(NULL);
  struct ibv_context* context = list != NULL && list[0] != NULL ? ibv_open_device(list[0]) : NULL;
  ibv_free_device_list(list);
  struct ibv_pd* pd = context != NULL ? ibv_alloc_pd(context) : NULL; /* here: leak */
  printf("made: %d\n", pd != NULL);
  return 0;
}
