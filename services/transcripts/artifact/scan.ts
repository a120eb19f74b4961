/** One reading of an artifact: exact bytes hashed and counted, every row judged, accepted rows handed on. */
import { createHash } from 'node:crypto';
import type { AcceptedRow, RowFilter } from '../row-filter.ts';
import { EncodingCheck } from './encoding.ts';
import { type ArtifactFormat, readRows } from './rows.ts';
import { WrongEncoding } from './unreadable.ts';

export type { ArtifactFormat } from './rows.ts';

export interface Scanned {
  /** SHA-256 of the exact bytes, lower-case hex. */
  readonly sha256: string;
  readonly bytes: number;
  readonly format: ArtifactFormat;
}

export interface ScanListener {
  /** The next accepted row; `position` counts accepted rows from 0. */
  accept(row: AcceptedRow, position: number): void;
  /** After each piece of the artifact; `bytes` read so far. What it returns is awaited. */
  pause?(bytes: number): Promise<void> | void;
}

/** Reads the artifact to its end. @throws UnreadableArtifact, TruncatedArtifact, WrongEncoding, or what the source throws. */
export async function scanArtifact(chunks: AsyncIterable<Uint8Array>, filter: RowFilter, listener: ScanListener): Promise<Scanned> {
  const hash = createHash('sha256');
  const encoding = new EncodingCheck();
  let bytes = 0;
  let position = 0;
  let format: ArtifactFormat = 'json';
  const checked = async function* (): AsyncGenerator<Uint8Array> {
    let wrong: string | undefined;
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.byteLength;
      // The rest is read for its digest only.
      wrong ??= encoding.push(chunk);
      if (wrong === undefined) yield chunk;
    }
    if (wrong !== undefined) throw new WrongEncoding(wrong, { sha256: hash.digest('hex'), bytes });
  };
  const onFormat = (found: ArtifactFormat): void => void (format = found);
  for await (const rows of readRows(checked(), onFormat)) {
    for (const row of rows) {
      const verdict = filter.judge(row);
      if (verdict.kind === 'accepted') listener.accept(verdict.row, position++);
    }
    await listener.pause?.(bytes);
  }
  return { sha256: hash.digest('hex'), bytes, format };
}
