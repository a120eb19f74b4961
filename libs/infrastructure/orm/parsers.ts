/**
 * Conversion of PostgreSQL values to JavaScript. Instants remain text, since `Date` would lose their microseconds
 * (rules/http#datetimes-out). JSON built by SQL is passed to clients unparsed.
 */
import pg from 'pg';
import { parseJson } from '#libs/infrastructure/json';

const { TypeOverrides } = pg;
type TypeParsers = InstanceType<typeof TypeOverrides>;

const oid = {
  int8: 20,
  json: 114,
  jsonb: 3802,
  date: 1082,
  timestamp: 1114,
  timestamptz: 1184,
  interval: 1186,
};
const timeArrays = [1182, 1115, 1185, 1187];
const textArray = 1009;

/** Returns a number if a double can represent it exactly, otherwise the digits as text. */
function parseInt8(text: string): number | string {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
}

function createParsers(parseDocument: (text: string) => unknown): TypeParsers {
  const parsers = new TypeOverrides();
  const keepText = (text: string): string => text;
  parsers.setTypeParser(oid.int8, parseInt8);
  for (const type of [oid.date, oid.timestamp, oid.timestamptz, oid.interval]) parsers.setTypeParser(type, keepText);
  const parseTextArray = parsers.getTypeParser(textArray, 'text') as unknown as (text: string) => unknown;
  for (const type of timeArrays) parsers.setTypeParser(type, parseTextArray);
  for (const type of [oid.json, oid.jsonb]) parsers.setTypeParser(type, parseDocument);
  return parsers;
}

/** Parsers for rows of statements; JSON remains PostgreSQL's text. */
export const rowParsers = createParsers((text) => text);

/** Parsers for rows of entities; JSON is parsed without loss of digits. */
export const entityParsers = createParsers(parseJson);
