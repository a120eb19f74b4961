import { Type } from '#libs/infrastructure/contract';

/**
 * Returns the schema of the `If-Match` header of an update; `resource` names the object in the description
 * (rules/http#etag; I2).
 */
export const ifMatch = (resource: string) =>
  Type.Object({
    'If-Match': Type.Optional(
      Type.String({ description: `Write only if the ${resource} still has one of these ETags; otherwise 412.` }),
    ),
  });
