import type { TSchema } from 'typebox';
import { Type } from './type.ts';

/** A value or null. */
export const nullable = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
