import { type TSchema, Type } from 'typebox';

/** A value or null. */
export const nullable = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
