/**
 * Stores parsed items in a temporary file, from which the second pass of a large import reads them, because parsing
 * YAML dominates the time of an import. The file is readable only by its owner and is removed at exit.
 */
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseJson } from '#libs/infrastructure/json';

export interface SpooledItem {
  readonly value: unknown;
  /** First line of the item in the workspace file. */
  readonly line: number;
}

export interface ItemSpool {
  add(item: SpooledItem): Promise<void>;
  finish(): Promise<void>;
  read(): AsyncIterable<SpooledItem>;
}

export function createItemSpool(): ItemSpool {
  const folder = mkdtempSync(join(tmpdir(), 'coherence-import-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'items');
  const out = createWriteStream(file, { mode: 0o600 });
  return {
    add: async ({ value, line }) => {
      // The line reader treats U+2028 and U+2029 as line breaks, and JSON does not escape them.
      const text = JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
      if (!out.write(`${line} ${text}\n`)) await once(out, 'drain');
    },
    finish: async () => {
      out.end();
      await once(out, 'close');
    },
    read: async function* () {
      for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
        const space = text.indexOf(' ');
        yield { line: Number(text.slice(0, space)), value: parseJson(text.slice(space + 1)) };
      }
    },
  };
}
