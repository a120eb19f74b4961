/** What a route has besides when its answers are kept under an `Idempotency-Key` (I1, I4). */
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
      'Made at random for one intent. For 24 hours the same request under the same key is answered with the first answer, with ' +
      '`Idempotent-Replayed: true`, and changes nothing.',
  }),
);

const refusals: ErrorReasons = {
  idempotency_in_progress: { code: 'conflict', when: 'The first request under the key is still at work; try again.' },
  idempotency_key_reused: { code: 'unprocessable', when: 'Another request was made under the key.' },
};

export const keyHeader = 'Idempotency-Key';

interface Keeping {
  readonly keepsAnswer?: true;
  readonly rpc?: Rpc | undefined;
  readonly headers?: TSchema;
  readonly errors?: ErrorReasons;
}

/** The route as it is, or with the header and what is refused by it. */
export function keepAnswers<R extends Keeping>(route: R): R {
  if (route.keepsAnswer !== true && route.rpc?.keepsAnswer !== true) return route;
  const { properties = {} } = (route.headers ?? {}) as Partial<TObject>;
  return {
    ...route,
    keepsAnswer: true,
    headers: Type.Object({ ...properties, [keyHeader]: key }),
    errors: { ...route.errors, ...refusals },
  };
}
