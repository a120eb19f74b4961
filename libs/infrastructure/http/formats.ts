/**
 * Selects the format of a response: by the parameter `format`, otherwise by the `Accept` header (rules/http#formats;
 * T1, T5).
 */
import type { RouteFormat } from '#libs/infrastructure/contract';

type Formats = Readonly<Record<string, RouteFormat>>;

interface Range {
  readonly type: string;
  readonly subtype: string;
  /** 0 = not acceptable, 1 = most preferred. */
  readonly quality: number;
}

/**
 * Prepares content negotiation. The returned function takes the `Accept` header and returns the name of the preferred
 * format. With equal preferences, or without the header, it returns the first format.
 */
export function compileFormats(formats: Formats): (accept: string | undefined) => string {
  const types = Object.fromEntries(Object.entries(formats).map(([name, { contentType }]) => [name, contentType]));
  const [first] = Object.keys(types);
  if (first === undefined) throw new Error('a route with formats needs one');
  return (accept) => chooseFormat(types, accept) ?? first;
}

/**
 * Returns the name of the content type that the client prefers, the first one with equal preferences or without a
 * header; undefined when the client accepts none.
 */
export function chooseFormat<Name extends string>(
  types: Readonly<Record<Name, string>>,
  accept: string | undefined,
): Name | undefined {
  const offers = Object.entries<string>(types).map(([name, contentType]) => ({
    name: name as Name,
    ...readType(contentType),
  }));
  if (accept === undefined) return offers[0]?.name;
  const ranges = readAccept(accept);
  const liked = offers.map((offer) => ({ name: offer.name, quality: findQuality(offer, ranges) }));
  const best = Math.max(...liked.map(({ quality }) => quality));
  return best === 0 ? undefined : liked.find(({ quality }) => quality === best)?.name;
}

/** Returns true if the client names `text/event-stream` explicitly and prefers it at least as much as JSON (C4). */
export function prefersEvents(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const ranges = readAccept(accept);
  const events = ranges.find(({ type, subtype }) => type === 'text' && subtype === 'event-stream')?.quality ?? 0;
  return events > 0 && events >= findQuality({ type: 'application', subtype: 'json' }, ranges);
}

/** Returns the quality of the most specific range that matches the type; 0 without a match. */
function findQuality({ type, subtype }: { type: string; subtype: string }, ranges: readonly Range[]): number {
  const find = (requestedType: string, requestedSubtype: string): number | undefined =>
    ranges.find((range) => range.type === requestedType && range.subtype === requestedSubtype)?.quality;
  return find(type, subtype) ?? find(type, '*') ?? find('*', '*') ?? 0;
}

/** Parses the media ranges of the header. Invalid ranges and parameters other than `q` are ignored. */
function readAccept(header: string): Range[] {
  return header.split(',').flatMap((entry) => {
    const { type, subtype, parameters } = readType(entry);
    if (type === '' || subtype === '') return [];
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? [{ type, subtype, quality: Number(weight) }] : [];
  });
}

function readType(text: string): { type: string; subtype: string; parameters: string[] } {
  const [name = '', ...parameters] = text
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const [type = '', subtype = ''] = name.split('/');
  return { type, subtype, parameters };
}
