/**
 * Size limits of `infos`, `config` with the room state, and `question_state` (D63), and metrics of rejected requests. A
 * database trigger (migration `data_size`) enforces the limits for every writer; this file translates the trigger's
 * errors.
 */
import { AppError, notFound } from '#libs/infrastructure/errors';
import { type JobHandler, PermanentJobError } from '#libs/infrastructure/jobs';
import { constraintOf } from '#libs/infrastructure/orm';
import type { Metrics } from '#libs/infrastructure/telemetry';

/** Maximum size of the JSON text in bytes, inclusive. */
export const maxDataBytes = 1_048_576;

/** Fields with a size limit, by constraint name. */
const fields = {
  conversations__infos__size: 'infos',
  conversations__config__size: 'config',
  conversations__question_state__size: 'question_state',
} as const;
export type BoundedField = (typeof fields)[keyof typeof fields];
export const boundedFields: readonly BoundedField[] = Object.values(fields);

const fieldLabels: Readonly<Record<BoundedField, string>> = {
  infos: '`infos`',
  config: '`config`, including the room state,',
  question_state: '`question_state`',
};

/** The error 413 `conversation_data_too_large`. */
export class DataTooLarge extends AppError {
  readonly field: BoundedField;

  /** @param where prefix of the message, e.g. `Conversation "old-42": ` */
  constructor(field: BoundedField, where = '', options?: ErrorOptions) {
    const message = `${where}${fieldLabels[field]} would be larger than ${maxDataBytes} bytes (1 MiB) of JSON text.`;
    super(
      { code: 'payload_too_large', reason: 'conversation_data_too_large', message, details: { detail: message } },
      options,
    );
    this.field = field;
  }
}

/** Returns the size error for a database error; returns undefined for other errors. */
export function findTooLarge(error: unknown): DataTooLarge | undefined {
  if (error instanceof DataTooLarge) return error;
  const constraint = constraintOf(error) ?? '';
  return Object.hasOwn(fields, constraint)
    ? new DataTooLarge(fields[constraint as keyof typeof fields], '', { cause: error })
    : undefined;
}

const strings = /"(?:[^"\\]|\\.)*"/g;
const exponents = /[eE][+-]?([0-9]+)/g;

/**
 * Returns the JSON text of a store for the operator `||`. Numbers retain their digits.
 * @throws DataTooLarge for a text that exceeds the limit, and for exponents such as `1e1000` that PostgreSQL expands to
 * too many digits
 */
export function toStoredJson(field: BoundedField, store: object | undefined): string {
  if (store === undefined) return '{}';
  const text = JSON.stringify(store);
  if (!/[0-9][eE]/.test(text)) {
    // Rejects texts early that exceed the limit in any notation. Otherwise PostgreSQL would parse and merge the text
    // before it rejects it.
    if (Buffer.byteLength(text) > 2 * maxDataBytes) throw new DataTooLarge(field);
    return text;
  }
  let digits = 0;
  for (const [, exponent] of text.replace(strings, '').matchAll(exponents)) digits += Number(exponent);
  if (digits > maxDataBytes) throw new DataTooLarge(field);
  return text;
}

export interface Refusals {
  /** Translates an error for the caller, and counts it when it is a rejection. */
  explain(error: unknown): unknown;
  /** Returns the error 404 for a conversation that the caller cannot access, and counts it. */
  access(): AppError;
  /**
   * Wraps a job handler. A job whose data is too large fails permanently, because every further attempt would fail too.
   */
  worker<Payload>(handler: JobHandler<Payload>): JobHandler<Payload>;
}

export function createRefusals(metrics: Pick<Metrics, 'counter'>): Refusals {
  const tooLarge = metrics.counter(
    'conversation_data_refused_total',
    'Writes rejected because a field would be too large (D63)',
    {
      field: boundedFields,
    },
  );
  const find = (error: unknown): DataTooLarge | undefined => {
    const refusal = findTooLarge(error);
    if (refusal !== undefined) tooLarge.inc({ field: refusal.field }, 1);
    return refusal;
  };
  const access = metrics.counter(
    'conversation_access_refused_total',
    'Requests for conversations that the caller cannot access (D69)',
  );
  return {
    access: () => {
      access.inc();
      return notFound();
    },
    explain: (error) => find(error) ?? error,
    worker: (handler) => async (run) => {
      try {
        return await handler(run);
      } catch (error) {
        const refusal = find(error);
        throw refusal === undefined ? error : new PermanentJobError(refusal.message, { cause: error });
      }
    },
  };
}
