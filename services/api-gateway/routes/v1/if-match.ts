/** The header of updates that apply to what their caller has seen (rules/http#etag; I2). */
import { Type } from '#libs/contract';

/** Header of an update; `resource` is what has the ETag, and where it comes from. */
export const ifMatch = (resource: string) =>
  Type.Object({
    'If-Match': Type.Optional(Type.String({ description: `Write only if the ${resource} still has one of these ETags; otherwise 412.` })),
  });
