/** One list out of the logs of all services (A3): newest first, by instant, then place in its log, then service. */
import type { AuditEntry } from '#libs/contract';
import * as merged from '#libs/merged-list';

export interface ServiceEntry extends AuditEntry {
  readonly service: string;
}

const name = 'audit';

/** Where the page of one service begins, behind a position of the whole list. */
export function beginOf(service: string, position: merged.Position): { at: string; id: number } {
  const { before, inclusive } = merged.cursorFor(service, position);
  const { at, id } = merged.parseInstantKey(before) ?? { at: before, id: 0 };
  return { at, id: inclusive ? id + 1 : id };
}

/** The first `limit` entries of the services' pages, each of which has one entry more than that when there are more. */
export function mergeEntries(
  pages: readonly (readonly ServiceEntry[])[],
  limit: number,
): ReturnType<typeof merged.mergePages<ServiceEntry>> {
  return merged.mergePages(pages, { limit, positionOf: (entry) => ({ at: merged.formatInstantKey(entry), source: entry.service }) });
}

/** A position as clients hand it back. */
export function writeCursor(position: merged.Position): string {
  return merged.encodePosition({ name }, position);
}

/** @returns undefined for what is no cursor of this list */
export function readCursor(text: string, sources: readonly string[]): merged.Position | undefined {
  const position = merged.decodePosition({ name, at: merged.instantKeyPattern, sources }, text);
  return position === undefined || merged.parseInstantKey(position.at) === undefined ? undefined : position;
}
