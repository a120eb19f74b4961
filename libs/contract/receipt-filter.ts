/** Which receipts of webhooks are meant, the same for every service that has some; for the admin CLI. */
import { Type } from 'typebox';

/** When they came. */
export const receiptTimes = {
  since: Type.Optional(Type.String({ format: 'date-time', description: 'Those that came then or later.' })),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'Those that came before.' })),
};

/** Receipts that one call of a replay by filter may take. */
export const maxReplayed = 1_000;

/** What a replay by filter has done, or with `dry_run` would do. */
export const replayedReceipts = Type.Object({
  matched: Type.Integer(),
  replayed: Type.Integer({ description: 'Those that are worked again.' }),
  without_body: Type.Integer({ description: 'Those whose body was not kept or is gone, so that there is nothing to replay.' }),
  nothing_left: Type.Integer({ description: 'Those with which nothing is left to do.' }),
  more: Type.Boolean({ description: 'More match than `limit`: the oldest were taken.' }),
});
