/** How receipts of webhooks are listed and replayed, the same for every service that has some; for the admin CLI. */
import type { TProperties } from 'typebox';
import { maxReplayed } from './webhook-admin.ts';
import { Type } from './type.ts';

/** Which receipts are meant: when they came, and what became of them. */
export function receiptFilter<Outcome extends string>(outcomes: readonly Outcome[]) {
  return {
    since: Type.Optional(Type.String({ format: 'date-time', description: 'Those that came then or later.' })),
    until: Type.Optional(Type.String({ format: 'date-time', description: 'Those that came before.' })),
    outcome: Type.Optional(Type.Enum([...outcomes], { description: 'Only those with this outcome.' })),
    text: Type.Optional(Type.String({ minLength: 3, maxLength: 200, description: 'Only those whose body has this text.' })),
  };
}

/** Request of a list of receipts. */
export function receiptList<Filter extends TProperties>(filter: Filter) {
  return Type.Object({
    ...filter,
    before: Type.Optional(
      Type.Object({
        at: Type.String({ format: 'date-time', description: 'Those of before then' }),
        id: Type.Integer({ description: 'then: those with a lower id.' }),
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_001, description: 'Default 100.' })),
  });
}

/** Request of a replay by filter. */
export function receiptReplay<Filter extends TProperties>(filter: Filter) {
  return Type.Object({ ...filter, limit: Type.Integer({ minimum: 1, maximum: maxReplayed }), dry_run: Type.Boolean() });
}

/** What a replay by filter has done, or with `dry_run` would do. */
export const receiptReplayResult = Type.Object({
  matched: Type.Integer(),
  replayed: Type.Integer({ description: 'Those that are worked again.' }),
  without_body: Type.Integer({ description: 'Those whose body was not kept or is gone, so that there is nothing to replay.' }),
  nothing_left: Type.Integer({ description: 'Those with which nothing is left to do.' }),
  more: Type.Boolean({ description: 'More match than `limit`: the oldest were taken.' }),
});
