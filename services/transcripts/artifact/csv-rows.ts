/**
 * Rows of a CSV artifact in both documented dialects: quoted with milliseconds, unquoted with ISO times; with or without a header
 * row. A CSV has no end times unless its header names such a column, and so its rows are ambiguous (D26).
 */
import { CsvError, parse, type Parser } from 'csv-parse';
import { UnreadableArtifact } from './unreadable.ts';

export { CsvError };

type Column = 'startTime' | 'endTime' | 'peerId' | 'userId' | 'cpi' | 'displayName' | 'sentence';

/** Order of the columns when the header does not say otherwise. */
const documentedOrder: readonly (Column | undefined)[] = ['startTime', 'peerId', 'userId', 'cpi', 'displayName', 'sentence'];

/** Header names, letters and digits only. */
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

/** Makes rows of the JSON artifact's shape out of CSV records. */
export class CsvRowReader {
  #columns: readonly (Column | undefined)[] | undefined;

  /** Whether the header names a column of end times; known from the first record on. */
  get hasEnds(): boolean {
    return this.#columns?.includes('endTime') === true;
  }

  /** @throws UnreadableArtifact when the first record has fewer columns than a transcript. */
  read(record: readonly string[]): unknown[] {
    if (this.#columns !== undefined) return [toRow(record, this.#columns)];
    const named = record.map((field) => headerNames[field.toLowerCase().replaceAll(/[^a-z0-9]/g, '')]);
    const isHeader = named.includes('startTime') && named.includes('sentence');
    if (!isHeader && record.length < documentedOrder.length) throw new UnreadableArtifact('its first line has too few columns');
    this.#columns = isHeader ? named : documentedOrder;
    return isHeader ? [] : [toRow(record, this.#columns)];
  }
}

function toRow(record: readonly string[], columns: readonly (Column | undefined)[]): unknown {
  if (record.length < columns.length) return null;
  const field: Partial<Record<Column, string>> = {};
  for (const [index, column] of columns.entries()) {
    if (column === undefined) continue;
    // Text without quotes may hold commas; what they cut off belongs to it when it is the last column.
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

/** All text in a CSV: digits are the number that JSON would hold. */
function toTime(text: string | undefined): unknown {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** RFC 4180 reader: BOM, trimmed unquoted fields, quotes tolerated inside unquoted fields, any line ending. */
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
