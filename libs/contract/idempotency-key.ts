/** Header and errors of routes that accept an `Idempotency-Key` (I1, I4). */
import type { TObject, TSchema } from 'typebox';
import type { ErrorReasons, Rpc } from './declarations.ts';
import { Type } from './type.ts';

/** Visible ASCII. */
const key = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: '^[!-~]+$',
    description:
      'A random value, new for each intent. For 24 hours, the same request with the same key changes nothing and returns the first response ' +
      'with `Idempotent-Replayed: true`.',
  }),
);

const keyErrors: ErrorReasons = {
  idempotency_in_progress: { code: 'conflict', when: 'The first request with this key is still in progress; retry.' },
  idempotency_key_reused: { code: 'unprocessable', when: 'The key was used for another request.' },
};

export const idempotencyKeyHeader = 'Idempotency-Key';

interface IdempotentRoute {
  readonly idempotent?: true;
  readonly rpc?: Rpc | undefined;
  readonly headers?: TSchema;
  readonly errors?: ErrorReasons;
}

/** Adds the header and its errors to an idempotent route; returns other routes unchanged. */
export function addIdempotencyKeyHeader<R extends IdempotentRoute>(route: R): R {
  if (route.idempotent !== true && route.rpc?.idempotent !== true) return route;
  const { properties = {} } = (route.headers ?? {}) as Partial<TObject>;
  return {
    ...route,
    idempotent: true,
    headers: Type.Object({ ...properties, [idempotencyKeyHeader]: key }),
    errors: { ...route.errors, ...keyErrors },
  };
}
