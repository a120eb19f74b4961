/** Spheres: fields of activity that holons can name (W15). */
import { byUsers, nullable, rpc, singleLine, type Static, Type } from '#libs/infrastructure/contract';
import { FieldChange } from '#libs/product/history';
import { anyId, ifMatch, limitParameter, maxNameLength, rowId, v1Errors } from '../api-objects/contract.ts';

export const Sphere = Type.Object(
  {
    id: rowId,
    key: Type.String({ description: 'Key in the workspace file.' }),
    name: Type.String(),
    is_active: Type.Boolean({ description: 'Only active spheres can be set on holons.' }),
  },
  { $id: 'Sphere', description: 'A field of activity that holons can name.' },
);

/** Default page size (rules/http#limits). */
export const spheresPerPage = 50;

export const sphereListQuery = Type.Object({
  include_inactive: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Also lists inactive spheres. Requires the right to edit the set-up.',
    }),
  ),
  limit: limitParameter({ usual: spheresPerPage, most: 200 }),
  cursor: Type.Optional(Type.String({ maxLength: 20, description: '`next` of the previous page.' })),
});

const name = singleLine({
  maxLength: maxNameLength,
  description: 'Must not be blank. Leading and trailing whitespace is removed.',
});

export const newSphere = Type.Object({ name }, { $id: 'SphereCreate' });
export const sphereUpdate = Type.Object(
  { name: Type.Optional(name), is_active: Type.Optional(Type.Boolean({ description: 'False retires the sphere.' })) },
  { $id: 'SphereUpdate' },
);
export type SphereUpdate = Static<typeof sphereUpdate>;

const denied = v1Errors.denied('The caller is not a superuser or member of `workspace_editors`.');

export const sphereRpcs = {
  listSpheres: rpc({
    subject: 'directory.spheres.list',
    callers: byUsers,
    summary: 'Lists spheres in the order of their creation (W15).',
    request: sphereListQuery,
    reply: Type.Object({
      items: Type.Array(Sphere),
      next: nullable(Type.String({ description: '`cursor` of the next page; null after the last one.' })),
    }),
    errors: { ...v1Errors.validation('`cursor` is not from a page.'), ...denied },
  }),
  createSphere: rpc({
    subject: 'directory.spheres.create',
    callers: byUsers,
    idempotent: true,
    audit: 'sphere.create',
    summary: 'Creates a sphere with a key from its name (W15).',
    request: newSphere,
    reply: Type.Object({ sphere: Sphere }),
    errors: { ...v1Errors.validation('The name is blank.'), ...denied },
  }),
  updateSphere: rpc({
    subject: 'directory.spheres.update',
    callers: byUsers,
    idempotent: true,
    audit: 'sphere.update',
    summary: 'Renames, retires or reactivates a sphere (W15).',
    request: Type.Object({ sphere_id: anyId('Id of the sphere.'), ...sphereUpdate.properties, ...ifMatch }),
    reply: Type.Object({
      sphere: Sphere,
      changes: Type.Object({ name: Type.Optional(FieldChange), is_active: Type.Optional(FieldChange) }),
    }),
    errors: {
      ...v1Errors.precondition,
      ...v1Errors.validation('The name is blank.'),
      ...denied,
      ...v1Errors.notFound('The sphere does not exist, or is inactive and the caller cannot edit the set-up.'),
    },
  }),
} as const;
