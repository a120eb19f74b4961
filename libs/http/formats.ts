/** Which representation of an answer a client wants: what it names, else what it accepts (rules/http#formats; T1, T5). */
import type { RouteFormat } from '#libs/contract';

type Formats = Readonly<Record<string, RouteFormat>>;

interface Range {
  readonly type: string;
  readonly subtype: string;
  /** 0 = not at all, 1 = most. */
  readonly quality: number;
}

/** Prepares the choice by the header Accept: the name of the best liked format, of equals and without any the first. */
export function compileFormats(formats: Formats): (accept: string | undefined) => string {
  const types = Object.fromEntries(Object.entries(formats).map(([name, { contentType }]) => [name, contentType]));
  const [first] = Object.keys(types);
  if (first === undefined) throw new Error('a route with formats needs one');
  return (accept) => chooseFormat(types, accept) ?? first;
}

/** The name of the best liked content type, of equals and without a header the first; undefined when the client accepts none. */
export function chooseFormat<Name extends string>(types: Readonly<Record<Name, string>>, accept: string | undefined): Name | undefined {
  const offers = Object.entries<string>(types).map(([name, contentType]) => ({ name: name as Name, ...readType(contentType) }));
  if (accept === undefined) return offers[0]?.name;
  const ranges = readAccept(accept);
  const liked = offers.map((offer) => ({ name: offer.name, quality: findQuality(offer, ranges) }));
  const best = Math.max(...liked.map(({ quality }) => quality));
  return best === 0 ? undefined : liked.find(({ quality }) => quality === best)?.name;
}

/** True for a client that names `text/event-stream` itself, and likes it no less than JSON (C4). */
export function prefersEvents(accept: string | undefined): boolean {
  if (accept === undefined) return false;
  const ranges = readAccept(accept);
  const events = ranges.find(({ type, subtype }) => type === 'text' && subtype === 'event-stream')?.quality ?? 0;
  return events > 0 && events >= findQuality({ type: 'application', subtype: 'json' }, ranges);
}

/** The quality of the narrowest range that the type is in; 0 when it is in none. */
function findQuality({ type, subtype }: { type: string; subtype: string }, ranges: readonly Range[]): number {
  const find = (requestedType: string, requestedSubtype: string): number | undefined =>
    ranges.find((range) => range.type === requestedType && range.subtype === requestedSubtype)?.quality;
  return find(type, subtype) ?? find(type, '*') ?? find('*', '*') ?? 0;
}

/** The ranges of the header; parameters other than `q`, and what is no range, are passed over. */
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
