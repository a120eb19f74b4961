/** What guards refuse, as callers and jobs see it; each refusal is counted. */
import { AppError, notFound } from '#libs/errors';
import { type JobHandler, PermanentJobError } from '#libs/jobs';
import { constraintOf } from '#libs/orm';
import type { Metrics } from '#libs/telemetry';

/** Bytes of the JSON text; exactly so many are stored. */
export const maxDataBytes = 1_048_576;

/** What is bounded, by the name of the broken rule. */
const fields = {
  conversations__infos__size: 'infos',
  conversations__config__size: 'config',
  conversations__question_state__size: 'question_state',
} as const;
export type BoundedField = (typeof fields)[keyof typeof fields];
export const boundedFields: readonly BoundedField[] = Object.values(fields);

const fieldLabels: Readonly<Record<BoundedField, string>> = {
  infos: '`infos`',
  config: '`config`, which holds the state of the room,',
  question_state: '`question_state`',
};

/** 413 `conversation_data_too_large`. */
export class DataTooLarge extends AppError {
  readonly field: BoundedField;

  /** `where` begins the sentence, e.g. `Conversation "old-42": `. */
  constructor(field: BoundedField, where = '', options?: ErrorOptions) {
    const message = `${where}${fieldLabels[field]} would be larger than ${maxDataBytes} bytes (1 MiB) of JSON text.`;
    super({ code: 'payload_too_large', reason: 'conversation_data_too_large', message, details: { detail: message } }, options);
    this.field = field;
  }
}

/** The refusal that an error stands for, if it does. */
export function findTooLarge(error: unknown): DataTooLarge | undefined {
  if (error instanceof DataTooLarge) return error;
  const constraint = constraintOf(error) ?? '';
  return Object.hasOwn(fields, constraint) ? new DataTooLarge(fields[constraint as keyof typeof fields], '', { cause: error }) : undefined;
}

const strings = /"(?:[^"\\]|\\.)*"/g;
const exponents = /[eE][+-]?([0-9]+)/g;

/**
 * JSON text of a store for `||`; numbers keep their digits.
 * @throws DataTooLarge for what is too large beyond doubt, and for numbers that would be written out to more digits than may be stored: `1e1000`
 * is short here and long in PostgreSQL
 */
export function toStoredJson(field: BoundedField, store: object | undefined): string {
  if (store === undefined) return '{}';
  const text = JSON.stringify(store);
  if (!/[0-9][eE]/.test(text)) {
    // However PostgreSQL writes it; there it would be read, merged and written before it is refused.
    if (Buffer.byteLength(text) > 2 * maxDataBytes) throw new DataTooLarge(field);
    return text;
  }
  let digits = 0;
  for (const [, exponent] of text.replace(strings, '').matchAll(exponents)) digits += Number(exponent);
  if (digits > maxDataBytes) throw new DataTooLarge(field);
  return text;
}

export interface Refusals {
  /** An error that left the service's own work, as its caller gets it. */
  explain(error: unknown): unknown;
  /** 404, counted, for somebody who asked for a conversation that they may not know. */
  access(): AppError;
  /** A job that would store too much is dead at once, with the reason: it would be too much at every attempt. */
  worker<Payload>(handler: JobHandler<Payload>): JobHandler<Payload>;
}

export function createRefusals(metrics: Pick<Metrics, 'counter'>): Refusals {
  const tooLarge = metrics.counter('conversation_data_refused_total', 'Writes refused because a field would be too large (D63)', {
    field: boundedFields,
  });
  const find = (error: unknown): DataTooLarge | undefined => {
    const refusal = findTooLarge(error);
    if (refusal !== undefined) tooLarge.inc({ field: refusal.field }, 1);
    return refusal;
  };
  const access = metrics.counter('conversation_access_refused_total', 'Requests for conversations that the caller may not know (D69)');
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
