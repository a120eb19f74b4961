/** Bounds of a list's `limit`, by operation (rules/http#limits). Out of range is 422 (D47). */
import { Type } from './type.ts';

export const limitParameter = ({ usual, most, of = 'Items of a page' }: { usual: number; most: number; of?: string }) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: most, default: usual, description: `${of}, default ${usual}, at most ${most}.` }));
