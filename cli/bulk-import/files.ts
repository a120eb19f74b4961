/**
 * Validates the audio and recordings of a bulk import before anything changes, and uploads files that differ from the
 * stored ones.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, openAsBlob, statSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newRequestId } from '#libs/infrastructure/telemetry';
import {
  audioExtensions,
  maxAudioBytes,
  maxRecordingBytes,
  media,
  pathOfStored,
  type StoredFile,
} from '#services/media';
import type { CliContext } from '../context.ts';
import { CliError } from '../failure.ts';
import type { CheckedItem, ItemProblem } from './check-item.ts';
import { standardInput } from '../workspace-file.ts';

type FileKind = StoredFile['kind'];
const kinds: readonly FileKind[] = ['audio', 'full', 'front_trimmed'];

const concurrentUploads = 4;
const connectTimeoutMs = 5_000;
const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const attemptDelaysMs = [500, 2_000, 5_000];

/** An existing conversation, and the item whose files belong to it. */
export interface FileTarget {
  readonly id: number;
  readonly item: CheckedItem;
}

export class FileImport {
  readonly #context: CliContext;
  readonly #folder: string;

  /** Paths are relative to the folder of the workspace file. */
  constructor(context: CliContext, workspaceFile: string) {
    this.#context = context;
    this.#folder =
      workspaceFile === standardInput ? (process.env['INIT_CWD'] ?? process.cwd()) : dirname(resolve(workspaceFile));
  }

  /** Adds the problems of the item's files. */
  check(item: CheckedItem, problems: ItemProblem[]): void {
    for (const kind of kinds) {
      const given = item[kind];
      if (given === undefined) continue;
      const message = findFileProblem(this.#pathOf(given), kind);
      if (message !== undefined) problems.push({ path: kind === 'audio' ? ['audio'] : ['recording', kind], message });
    }
  }

  /** @throws CliError when the media service cannot be reached */
  async checkService(): Promise<void> {
    const { origin, hostname, port, protocol } = new URL(this.#base());
    // Only connects: a request without a ticket would raise an alert.
    const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPorts[protocol]) });
    try {
      await once(socket, 'connect', { signal: AbortSignal.timeout(connectTimeoutMs) });
    } catch (error) {
      throw new CliError(
        `The media service at ${origin} (MEDIA_INTERNAL_URL) cannot be reached: ${describeCause(error)}`,
      );
    } finally {
      socket.destroy();
    }
  }

  #base(): string {
    const base = this.#context.setting('MEDIA_INTERNAL_URL');
    if (base === undefined || !URL.canParse(base))
      throw new CliError('MEDIA_INTERNAL_URL is not set. It is required to upload audio and recordings.');
    return base;
  }

  /** Uploads files whose name or content differs from the stored file. @returns ids of changed conversations */
  async apply(targets: readonly FileTarget[], dryRun: boolean): Promise<Set<number>> {
    const changed = new Set<number>();
    const concerned = targets.filter(({ item }) => namesFiles(item));
    if (concerned.length === 0) return changed;
    const { items } = await this.#context.call(media.rpcs.listFiles, {
      conversation_ids: concerned.map(({ id }) => id),
    });
    const stored = new Map(items.map((file) => [`${file.conversation_id}/${file.kind}`, file]));
    const uploads: (() => Promise<void>)[] = [];
    const marks: { conversation_id: number; finalized: boolean }[] = [];
    for (const { id, item } of concerned) {
      for (const kind of kinds) {
        const given = item[kind];
        if (given === undefined) continue;
        const file = this.#pathOf(given);
        if (await isSame(file, stored.get(`${id}/${kind}`))) continue;
        changed.add(id);
        uploads.push(() => this.#upload(id, kind, file, item));
      }
      const trimmed = stored.get(`${id}/front_trimmed`);
      if (item.finalized === undefined || trimmed === undefined || trimmed.finalized === item.finalized) continue;
      changed.add(id);
      marks.push({ conversation_id: id, finalized: item.finalized });
    }
    if (dryRun) return changed;
    await Promise.all(Array.from({ length: concurrentUploads }, () => drain(uploads)));
    if (marks.length > 0) await this.#context.call(media.rpcs.setFinalized, { items: marks });
    return changed;
  }

  #pathOf(given: string): string {
    return resolve(this.#folder, given);
  }

  async #upload(id: number, kind: FileKind, file: string, item: CheckedItem): Promise<void> {
    const url = new URL(pathOfStored(id, kind), this.#base());
    url.searchParams.set('name', basename(file));
    if (kind === 'front_trimmed' && item.finalized === true) url.searchParams.set('finalized', 'true');
    if (kind === 'audio' && item.infos !== undefined && Object.hasOwn(item.infos, 'audio'))
      url.searchParams.set('attach', 'false');
    for (let attempt = 0; ; attempt++) {
      const { ticket } = await this.#context.call(media.rpcs.issueUploadTicket, { conversation_id: id, kind });
      const refusal = await send(url, ticket, file);
      if (refusal === undefined) return;
      const delayMs = attemptDelaysMs[attempt];
      if (delayMs === undefined || !refusal.isTransient) throw new CliError(`${file}: ${refusal.message}`);
      await sleep(delayMs);
    }
  }
}

export function namesFiles(item: CheckedItem): boolean {
  return item.finalized !== undefined || kinds.some((kind) => item[kind] !== undefined);
}

function findFileProblem(file: string, kind: FileKind): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return `file not found: ${file}`;
  if (!found.isFile()) return `${file} is not a file`;
  if (found.size === 0) return `${file} is empty`;
  if (found.size > (kind === 'audio' ? maxAudioBytes : maxRecordingBytes)) return `${file} is too large`;
  const extension = /\.([^.]+)$/.exec(basename(file))?.[1]?.toLowerCase() ?? '';
  if (kind === 'audio' && !(audioExtensions as readonly string[]).includes(extension)) {
    return `must have one of these extensions: ${audioExtensions.join(', ')}`;
  }
  return undefined;
}

/** Compares sizes first, so that most changed files need not be read. */
async function isSame(file: string, stored: StoredFile | undefined): Promise<boolean> {
  if (stored === undefined || stored.name !== basename(file) || statSync(file).size !== stored.size_bytes) return false;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest('hex') === stored.sha256;
}

async function drain(work: (() => Promise<void>)[]): Promise<void> {
  for (let next = work.shift(); next !== undefined; next = work.shift()) await next();
}

async function send(
  url: URL,
  ticket: string,
  file: string,
): Promise<{ message: string; isTransient: boolean } | undefined> {
  try {
    const headers = { 'request-id': newRequestId(), ticket };
    const answer = await fetch(url, { method: 'PUT', headers, body: await openAsBlob(file) });
    if (answer.ok) {
      await answer.arrayBuffer();
      return undefined;
    }
    return {
      message: `the media service returned ${answer.status}: ${await answer.text()}`,
      isTransient: answer.status >= 500,
    };
  } catch (error) {
    return {
      message: `the media service at ${url.origin} cannot be reached: ${describeCause(error)}`,
      isTransient: true,
    };
  }
}

function describeCause(error: unknown): string {
  const { message, code, name } = (
    error instanceof Error && error.cause instanceof Error ? error.cause : error
  ) as NodeJS.ErrnoException;
  return message || code || name; // when all addresses of a host fail, Node throws an AggregateError without a message
}
