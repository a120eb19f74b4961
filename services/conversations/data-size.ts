/**
 * How much a conversation may hold (D63): `infos`, and `config` with the room state in it, at most 1 MiB each, counted in bytes of the JSON
 * text that a read shows; the derived question state likewise. The database refuses what is larger in the statement that would store it
 * (migration `data_size`), so that no writer can forget it; here is what its refusal means.
 */
import { AppError } from '#libs/errors';
import { constraintOf } from '#libs/orm';

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

const shown: Readonly<Record<BoundedField, string>> = {
  infos: '`infos`',
  config: '`config`, which holds the state of the room,',
  question_state: '`question_state`',
};

/** 413 `conversation_data_too_large`. */
export class DataTooLarge extends AppError {
  readonly field: BoundedField;

  /** `where` begins the sentence, e.g. `Conversation "old-42": `. */
  constructor(field: BoundedField, where = '', options?: ErrorOptions) {
    const message = `${where}${shown[field]} would be larger than ${maxDataBytes} bytes (1 MiB) of JSON text.`;
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
