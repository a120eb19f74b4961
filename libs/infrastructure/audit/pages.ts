/**
 * Merges the audit logs of all services (A3), newest first. Entries are sorted by instant, then by position in their
 * log, then by service.
 */
import type { AuditEntry } from '#libs/infrastructure/contract';
import * as merged from '#libs/infrastructure/cursor';

export interface ServiceEntry extends AuditEntry {
  readonly service: string;
}

const name = 'audit';

/** Returns the cursor of one service's page for a position in the merged list. */
export function cursorFor(service: string, position: merged.Position): { at: string; id: number } {
  const { before, inclusive } = merged.cursorFor(service, position);
  const { at, id } = merged.parseInstantKey(before) ?? { at: before, id: 0 };
  return { at, id: inclusive ? id + 1 : id };
}

/**
 * Returns the first `limit` entries of the services' pages. A page has one more entry than `limit` if the service has
 * more.
 */
export function mergeEntries(
  pages: readonly (readonly ServiceEntry[])[],
  limit: number,
): ReturnType<typeof merged.mergePages<ServiceEntry>> {
  return merged.mergePages(pages, {
    limit,
    positionOf: (entry) => ({ at: merged.formatInstantKey(entry), source: entry.service }),
  });
}

/** Encodes a position as a client cursor. */
export function writeCursor(position: merged.Position): string {
  return merged.encodePosition({ name }, position);
}

/** Decodes a client cursor. @returns undefined for an invalid cursor */
export function readCursor(text: string, sources: readonly string[]): merged.Position | undefined {
  const position = merged.decodePosition({ name, at: merged.instantKeyPattern, sources }, text);
  return position === undefined || merged.parseInstantKey(position.at) === undefined ? undefined : position;
}
