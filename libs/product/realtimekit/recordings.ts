/** Reads the recordings of a meeting: metadata and resumable downloads. */
import { unavailable } from '#libs/infrastructure/errors';
import { isJsonObject } from '#libs/infrastructure/json';
import type { Instant } from '#libs/infrastructure/time';
import { listPages, invalidResponse, readInstant, type Api } from './api.ts';

/** A recording. It can only be downloaded when its status is UPLOADED. */
export interface MeetingRecording {
  readonly id: string;
  /** INVOKED, RECORDING, PAUSED, UPLOADING, UPLOADED, ERRORED, or a status that the provider adds later. */
  readonly status: string;
  /** Undefined when the provider does not return a start. */
  readonly start: Instant | undefined;
  readonly end: Instant | undefined;
  readonly sizeBytes: number | undefined;
  readonly fileName: string | undefined;
}

export interface RecordingDownload {
  /** Position in the file at which `body` starts: the requested offset, or 0 when the provider sends the whole file. */
  readonly offset: number;
  /** Size of the whole file; undefined when the reply does not contain it. */
  readonly totalBytes: number | undefined;
  /** Strong entity tag, required to resume the download. */
  readonly etag: string | undefined;
  /** Bytes of the recording from `offset`. @throws AppError `unavailable`, DownloadTooLarge */
  readonly body: AsyncGenerator<Uint8Array>;
}

export interface Recordings {
  /** Returns all recordings of a meeting. @throws AppError `unavailable`, ProviderBusy */
  listRecordings(meetingId: string, signal: AbortSignal): Promise<MeetingRecording[]>;
  /**
   * Returns one recording. @throws AppError `unavailable`, also when the provider does not know the recording (yet);
   * ProviderBusy
   */
  readRecording(id: string, signal: AbortSignal): Promise<MeetingRecording>;
  /**
   * Opens an uploaded recording at an offset, if its content still has this entity tag. Requests a new URL each time,
   * because URLs expire.
   * @throws AppError `unavailable`, ProviderBusy
   */
  openRecording(
    id: string,
    from: { offset: number; etag: string | undefined },
    signal: AbortSignal,
  ): Promise<RecordingDownload>;
}

export function createRecordings(api: Api): Recordings {
  const findItem = async (id: string, signal: AbortSignal): Promise<Record<string, unknown>> => {
    const { data } = await api.call(`/recordings/${encodeURIComponent(id)}`, signal);
    if (!isJsonObject(data)) throw invalidResponse();
    return data;
  };
  return {
    listRecordings: async (meetingId, signal) => {
      const items = await listPages(api, '/recordings', { meeting_id: meetingId }, readItems, signal);
      return items.flatMap((item) => readRecording(item) ?? []);
    },
    readRecording: async (id, signal) => {
      const recording = readRecording(await findItem(id, signal));
      if (recording?.id !== id) throw invalidResponse();
      return recording;
    },
    openRecording: async (id, { offset, etag }, signal) => {
      const findUrl = async (): Promise<string> => {
        const url = (await findItem(id, signal))['download_url'];
        if (typeof url !== 'string' || url === '') throw unavailable('the recording has no download URL yet');
        return url;
      };
      // Without an entity tag, the rest could belong to different content.
      const resumes = offset > 0 && etag !== undefined;
      const headers = resumes ? { range: `bytes=${offset}-`, 'if-range': etag } : {};
      const reply = await api.open(
        { what: 'recording', findUrl, headers, statuses: resumes ? [200, 206] : [200] },
        signal,
      );
      const part = reply.status === 206 ? readContentRange(reply.headers['content-range']) : undefined;
      if (reply.status === 206 && part?.first !== offset) {
        reply.discard();
        throw unavailable('the recording download returned another range than requested');
      }
      return {
        offset: part === undefined ? 0 : offset,
        totalBytes: part === undefined ? readLength(reply.headers['content-length']) : part.total,
        etag: readStrongTag(reply.headers['etag']),
        body: api.read(reply, 'recording'),
      };
    },
  };
}

function readItems(data: unknown): unknown[] | undefined {
  const items = isJsonObject(data) ? data['recordings'] : data;
  return Array.isArray(items) ? items : undefined;
}

function readRecording(item: unknown): MeetingRecording | undefined {
  if (!isJsonObject(item)) return undefined;
  const { id, status, file_size: size, output_file_name: name } = item;
  if (typeof id !== 'string' || id === '' || typeof status !== 'string') return undefined;
  return {
    id,
    status,
    start: readInstant(item['started_time']),
    end: readInstant(item['stopped_time']),
    sizeBytes: typeof size === 'number' && Number.isSafeInteger(size) && size > 0 ? size : undefined,
    fileName: typeof name === 'string' && name !== '' ? name : undefined,
  };
}

function readContentRange(text: string | undefined): { first: number; total: number | undefined } | undefined {
  const match = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(text ?? '');
  if (match === null) return undefined;
  return { first: Number(match[1]), total: match[2] === '*' ? undefined : Number(match[2]) };
}

function readLength(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

function readStrongTag(text: string | undefined): string | undefined {
  return text !== undefined && text.startsWith('"') ? text : undefined;
}
