/* path_device.h: what tracing reads of a plan, copied to a GPU once for all who ask at the same time,
 * the plan's own on the CPU: the plans of a call's evaluators, and of several executors, share one copy of a scene and its
 * hierarchy. Threads may ask at once. */
#ifndef EC_PATH_DEVICE_H
#define EC_PATH_DEVICE_H

#include "../../core/backend.h"
#include "path.h"
#include "path_occlusion.h"

EC_C_BEGIN

typedef struct ec_path_device ec_path_device;

/* The plan and the backend outlive the copy. ERR_MEMORY; errors of the backend. */
int ec_path_device_get(const ec_path_plan *plan, ec_backend *backend, ec_path_device **device);
/* Gives it back and clears the pointer; the last one frees the memory. */
void ec_path_device_release(ec_path_device **device);
/* Its pointers are into the backend's memory. */
const ec_path_view *ec_path_device_view(const ec_path_device *device);

/* Of a plan's life (path_plan.c). */
typedef struct ec_path_devices ec_path_devices;
int ec_path_devices_create(ec_path_devices **devices);
void ec_path_devices_destroy(ec_path_devices **devices);

EC_C_END
#endif
