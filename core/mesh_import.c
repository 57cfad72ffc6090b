/* Import of meshes, but PLY (mesh_internal.h) by Assimp's C interface. Its files are opened by functions of ours, so that a
 * file cannot name others that the caller does not want read. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include "mesh.h"
#include "mesh_internal.h"
#include "status.h"

/* ---- files ----------------------------------------------------------------------------------- */

static size_t read_file(struct aiFile *file, char *to, size_t size, size_t count)
{
    return fread(to, size, count, (FILE *)file->UserData);
}

static size_t write_file(struct aiFile *file, const char *from, size_t size, size_t count)
{
    (void)file, (void)from, (void)size, (void)count;
    return 0;
}

static size_t tell_file(struct aiFile *file)
{
    long at = ftell((FILE *)file->UserData);
    return at < 0 ? 0 : (size_t)at;
}

static size_t size_of_file(struct aiFile *file)
{
    FILE *stream = (FILE *)file->UserData;
    long at = ftell(stream), size = 0;
    if (at >= 0 && fseek(stream, 0, SEEK_END) == 0) {
        size = ftell(stream);
        fseek(stream, at, SEEK_SET);
    }
    return size < 0 ? 0 : (size_t)size;
}

static enum aiReturn seek_file(struct aiFile *file, size_t offset, enum aiOrigin origin)
{
    int from = origin == aiOrigin_SET ? SEEK_SET : origin == aiOrigin_CUR ? SEEK_CUR : SEEK_END;
    return fseek((FILE *)file->UserData, (long)offset, from) == 0 ? aiReturn_SUCCESS
                                                                  : aiReturn_FAILURE;
}

static void flush_file(struct aiFile *file)
{
    (void)file;
}

static struct aiFile *open_file(struct aiFileIO *io, const char *path, const char *mode)
{
    const ec_mesh_import_info *info = (const ec_mesh_import_info *)(void *)io->UserData;
    if (!mode || mode[0] != 'r' || (info->may_read && !info->may_read(info->user, path)))
        return NULL;
    FILE *stream = fopen(path, "rb");
    struct aiFile *file = stream ? malloc(sizeof *file) : NULL;
    if (!file) {
        if (stream)
            fclose(stream);
        return NULL;
    }
    *file = (struct aiFile){.ReadProc = read_file,
                            .WriteProc = write_file,
                            .TellProc = tell_file,
                            .FileSizeProc = size_of_file,
                            .SeekProc = seek_file,
                            .FlushProc = flush_file,
                            .UserData = (aiUserData)(void *)stream};
    return file;
}

static void close_file(struct aiFileIO *io, struct aiFile *file)
{
    (void)io;
    if (file)
        fclose((FILE *)file->UserData);
    free(file);
}

/* ---- from Assimp's scene to meshes ------------------------------------------------------------ */

typedef struct collector {
    const struct aiScene *scene;
    const ec_mesh_import_info *info;
    const char *path;
    ec_mesh_list *list;
} collector;

/* "" for Assimp's own name of no material. */
static const char *material_name(const struct aiScene *scene, unsigned int index,
                                 struct aiString *name)
{
    if (index >= scene->mNumMaterials ||
        aiGetMaterialString(scene->mMaterials[index], AI_MATKEY_NAME, name) != aiReturn_SUCCESS ||
        strcmp(name->data, AI_DEFAULT_MATERIAL_NAME) == 0)
        return "";
    return name->data;
}

static int add_mesh(collector *c, const struct aiMesh *from, const struct aiNode *node,
                    const double m[3][4])
{
    int64_t triangles = 0;
    for (unsigned int f = 0; f < from->mNumFaces; f++)
        triangles += from->mFaces[f].mNumIndices == 3;
    c->list->left_out += from->mNumFaces - triangles;
    if (triangles == 0)
        return EC_OK;
    if (from->mNumVertices > INT32_MAX || triangles > INT32_MAX)
        return ec_fail(EC_ERR_FORMAT, "'%s': mesh '%s' has %u vertices, at most %d are read",
                       c->path, from->mName.data, from->mNumVertices, INT32_MAX);
    struct aiString material;
    ec_mesh *mesh;
    /* a node is the object where the format has objects; its meshes are its parts by material */
    int rc = ec_mesh_list_add(c->list,
                              from->mName.length > 0 && !(node->mName.length > 0 && node->mParent)
                                  ? from->mName.data
                                  : node->mName.data,
                              material_name(c->scene, from->mMaterialIndex, &material),
                              (int32_t)from->mNumVertices, (int32_t)triangles, &mesh);
    if (rc != EC_OK)
        return rc;
    for (int32_t v = 0; v < mesh->n_vertices; v++) {
        const struct aiVector3D *p = &from->mVertices[v];
        mesh->vertex[v][0] = (double)p->x;
        mesh->vertex[v][1] = (double)p->y;
        mesh->vertex[v][2] = (double)p->z;
        if (!isfinite(p->x) || !isfinite(p->y) || !isfinite(p->z))
            return ec_fail(EC_ERR_FORMAT, "'%s': vertex %d of mesh '%s' is no finite number",
                           c->path, (int)v + 1, mesh->name);
    }
    int32_t t = 0;
    for (unsigned int f = 0; f < from->mNumFaces; f++) {
        const struct aiFace *face = &from->mFaces[f];
        for (unsigned int k = 0; face->mNumIndices == 3 && k < 3; k++) {
            if (face->mIndices[k] >= from->mNumVertices)
                return ec_fail(EC_ERR_FORMAT, "'%s': a triangle of mesh '%s' has a vertex %u of %u",
                               c->path, mesh->name, face->mIndices[k] + 1, from->mNumVertices);
            mesh->triangle[t][k] = (int32_t)face->mIndices[k];
        }
        t += face->mNumIndices == 3;
    }
    ec_mesh_transform(mesh, m);
    return EC_OK;
}

/* up: what is above the node, in the order of the file. Nesting is as deep as Assimp's own. */
static int add_node(collector *c, const struct aiNode *node, const double up[3][4])
{
    const struct aiMatrix4x4 *a = &node->mTransformation;
    const double own[4][4] = {
        {(double)a->a1, (double)a->a2, (double)a->a3, (double)a->a4},
        {(double)a->b1, (double)a->b2, (double)a->b3, (double)a->b4},
        {(double)a->c1, (double)a->c2, (double)a->c3, (double)a->c4},
        {0, 0, 0, 1},
    };
    double m[3][4];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            m[i][j] = up[i][0] * own[0][j] + up[i][1] * own[1][j] + up[i][2] * own[2][j] +
                      up[i][3] * own[3][j];
    for (unsigned int i = 0; i < node->mNumMeshes; i++) {
        int rc = add_mesh(c, c->scene->mMeshes[node->mMeshes[i]], node, m);
        if (rc != EC_OK)
            return rc;
    }
    for (unsigned int i = 0; i < node->mNumChildren; i++) {
        int rc = add_node(c, node->mChildren[i], m);
        if (rc != EC_OK)
            return rc;
    }
    return EC_OK;
}

static int collect(collector *c)
{
    const double s = c->info->unit;
    const double z_up[3][4] = {{s, 0, 0, 0}, {0, s, 0, 0}, {0, 0, s, 0}};
    const double y_up[3][4] = {{s, 0, 0, 0}, {0, 0, -s, 0}, {0, s, 0, 0}};
    int32_t before = c->list->count;
    int rc =
        c->scene->mRootNode ? add_node(c, c->scene->mRootNode, c->info->y_up ? y_up : z_up) : EC_OK;
    if (rc == EC_OK && c->list->count == before)
        rc = ec_fail(EC_ERR_FORMAT, "'%s' holds no triangle", c->path);
    return rc;
}

/* ---- the call -------------------------------------------------------------------------------- */

void ec_mesh_import_info_default(ec_mesh_import_info *info)
{
    *info = (ec_mesh_import_info){.unit = 1};
}

int ec_mesh_import(const char *path, const ec_mesh_import_info *info, ec_mesh_list *list)
{
    if (!(info->unit > 0 && isfinite(info->unit)))
        return ec_fail(EC_ERR_ARGUMENT, "'%s': a unit of %g m; it must be above 0", path,
                       info->unit);
    if (info->may_read && !info->may_read(info->user, path))
        return ec_fail(EC_ERR_FILE,
                       access(path, F_OK) == 0 ? "'%s' may not be read" : "there is no file '%s'",
                       path);
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return ec_fail(EC_ERR_FILE, "'%s' cannot be read: %s", path, strerror(errno));
    fclose(stream);
    const char *dot = strrchr(path, '.');
    if (dot && strlen(dot) == 4 && tolower((unsigned char)dot[1]) == 'p' &&
        tolower((unsigned char)dot[2]) == 'l' && tolower((unsigned char)dot[3]) == 'y')
        return ec_mesh_import_ply(path, info, list);

    struct aiFileIO io = {
        .OpenProc = open_file, .CloseProc = close_file, .UserData = (aiUserData)(void *)info};
    const struct aiScene *scene = aiImportFileEx(path, aiProcess_Triangulate, &io);
    if (!scene)
        return ec_fail(EC_ERR_FORMAT, "'%s' is not understood: %s", path, aiGetErrorString());

    ec_mesh_list before = *list;
    collector c = {scene, info, path, list};
    int rc = collect(&c);
    aiReleaseImport(scene);
    if (rc != EC_OK) {
        ec_mesh_list_cut(list, before.count);
        list->left_out = before.left_out;
    }
    return rc;
}
