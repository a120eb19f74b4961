/**
 * Reads an artifact, JSON or CSV, as batches of rows, in constant memory. Supports both documented CSV dialects (quoted
 * with milliseconds, unquoted with ISO times), with or without a header. Rows without an end time column are ambiguous
 * (D26).
 */
import { Readable } from 'node:stream';
import { CsvError, parse, type Parser } from 'csv-parse';
import { JsonRowSplitter } from './json-rows.ts';
import { TruncatedArtifact, UnreadableArtifact } from './unreadable.ts';

/** `csv` has no column of end times; `csv_with_ends` has one. */
export type ArtifactFormat = 'json' | 'csv' | 'csv_with_ends';

/** Maximum size of a row in bytes. */
const maxRowBytes = 4 * 1_048_576;
const csvBatchRows = 500;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Yields rows as the provider wrote them. The first visible character decides the format: `[` is JSON.
 * @throws UnreadableArtifact when the artifact is neither JSON nor CSV
 */
export async function* readRows(
  chunks: AsyncIterable<Uint8Array>,
  onFormat: (format: ArtifactFormat) => void = () => undefined,
): AsyncGenerator<unknown[]> {
  const source = chunks[Symbol.asyncIterator]();
  try {
    let head = Buffer.alloc(0);
    let blankBytes = 0;
    let first: number | undefined;
    while (first === undefined) {
      const next = await source.next();
      if (next.done === true) break;
      head = Buffer.concat([head, next.value]);
      first = firstVisible(head);
      if (first !== undefined || head.length < byteOrderMark.length) continue;
      blankBytes += head.length;
      if (blankBytes > maxRowBytes) throw new UnreadableArtifact('it is blank');
      head = Buffer.alloc(0); // The buffer is dropped, since otherwise each chunk of a long blank start would be concatenated with all previous chunks.
    }
    if (first === undefined) throw new UnreadableArtifact('it is empty');
    const bytes = rejoin(head, source);
    if (first === 0x5b) yield* readJson(bytes);
    else if (first === 0x7b) throw new UnreadableArtifact('it is a JSON object, not a list');
    else if (first === 0x3c) throw new UnreadableArtifact('it is HTML or XML');
    else yield* readCsv(bytes, onFormat);
  } finally {
    await source.return?.();
  }
}

function firstVisible(head: Buffer): number | undefined {
  if (head.length < byteOrderMark.length && byteOrderMark.subarray(0, head.length).equals(head)) return undefined;
  return skipByteOrderMark(head).find((byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09);
}

function skipByteOrderMark(head: Buffer): Buffer {
  return head.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? head.subarray(byteOrderMark.length) : head;
}

async function* rejoin(head: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield skipByteOrderMark(head);
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

async function* readJson(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<unknown[]> {
  const splitter = new JsonRowSplitter(maxRowBytes);
  for await (const chunk of bytes) {
    const rows = splitter.push(chunk);
    if (rows.length > 0) yield rows;
  }
  const rows = splitter.end();
  if (rows.length > 0) yield rows;
}

async function* readCsv(
  bytes: AsyncIterable<Uint8Array>,
  onFormat: (format: ArtifactFormat) => void,
): AsyncGenerator<unknown[]> {
  const reader = new CsvRowReader();
  let sourceError: unknown;
  const guarded = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* bytes;
    } catch (error) {
      sourceError = error;
      throw error;
    }
  };
  const input = Readable.from(guarded(), { objectMode: false });
  const parser = createCsvParser(maxRowBytes);
  input.on('error', (error) => parser.destroy(error));
  let batch: unknown[] = [];
  try {
    for await (const record of input.pipe(parser) as AsyncIterable<string[]>) {
      batch.push(...reader.read(record));
      onFormat(reader.hasEndTimes ? 'csv_with_ends' : 'csv');
      if (batch.length < csvBatchRows) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    if (sourceError !== undefined) throw sourceError;
    if (error instanceof UnreadableArtifact) throw error;
    if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED')
      throw new TruncatedArtifact('it ends inside quotes');
    throw new UnreadableArtifact(`line ${parser.info.lines} is no CSV`);
  } finally {
    input.destroy();
    parser.destroy();
  }
  if (batch.length > 0) yield batch;
}

export { CsvError };

type Column = 'startTime' | 'endTime' | 'peerId' | 'userId' | 'cpi' | 'displayName' | 'sentence';

/** Order of the columns in a file without a header. */
const documentedOrder: readonly (Column | undefined)[] = [
  'startTime',
  'peerId',
  'userId',
  'cpi',
  'displayName',
  'sentence',
];

/** Header names, reduced to letters and digits, with their columns. */
const headerNames: Readonly<Record<string, Column>> = {
  timestamp: 'startTime',
  time: 'startTime',
  start: 'startTime',
  starttime: 'startTime',
  end: 'endTime',
  endtime: 'endTime',
  id: 'peerId',
  peerid: 'peerId',
  participantid: 'peerId',
  userid: 'userId',
  cpi: 'cpi',
  customparticipantid: 'cpi',
  name: 'displayName',
  displayname: 'displayName',
  participantname: 'displayName',
  text: 'sentence',
  sentence: 'sentence',
  transcript: 'sentence',
};

/** Converts CSV records to rows of the same shape as in JSON artifacts. */
export class CsvRowReader {
  #columns: readonly (Column | undefined)[] | undefined;

  /** Whether the header has a column of end times. The value is known after the first record. */
  get hasEndTimes(): boolean {
    return this.#columns?.includes('endTime') === true;
  }

  /**
   * Converts a record to rows. @throws UnreadableArtifact when the first record has fewer columns than a transcript.
   */
  read(record: readonly string[]): unknown[] {
    if (this.#columns !== undefined) return [toRow(record, this.#columns)];
    const named = record.map((field) => headerNames[field.toLowerCase().replaceAll(/[^a-z0-9]/g, '')]);
    const isHeader = named.includes('startTime') && named.includes('sentence');
    if (!isHeader && record.length < documentedOrder.length)
      throw new UnreadableArtifact('its first line has too few columns');
    this.#columns = isHeader ? named : documentedOrder;
    return isHeader ? [] : [toRow(record, this.#columns)];
  }
}

function toRow(record: readonly string[], columns: readonly (Column | undefined)[]): unknown {
  if (record.length < columns.length) return null;
  const field: Partial<Record<Column, string>> = {};
  for (const [index, column] of columns.entries()) {
    if (column === undefined) continue;
    // Unquoted text can contain commas, so the fields after the last column are part of the text.
    const isLastText = column === 'sentence' && index === columns.length - 1;
    field[column] = isLastText ? record.slice(index).join(',') : (record[index] ?? '');
  }
  return {
    startTime: toTime(field.startTime),
    endTime: toTime(field.endTime),
    sentence: field.sentence,
    peerData: { id: field.peerId, userId: field.userId, cpi: field.cpi, displayName: field.displayName },
  };
}

/** Converts digits to the number that a JSON artifact would contain. Other text remains unchanged. */
function toTime(text: string | undefined): unknown {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/**
 * Returns an RFC 4180 parser that accepts a BOM, quotes inside unquoted fields and any line ending, and trims unquoted
 * fields.
 */
export function createCsvParser(maxRowBytes: number): Parser {
  return parse({
    bom: true,
    trim: true,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: maxRowBytes,
  });
}
