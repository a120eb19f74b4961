/** What ffprobe says of a recording. */
import { PermanentJobError } from '#libs/jobs';
import { isJsonObject } from '#libs/json';
import { FfmpegError, type Ffmpeg } from '#libs/ffmpeg';

export interface Probed {
  readonly durationSeconds: number;
  /** First timestamp of the file; cuts are counted from it. */
  readonly startSeconds: number;
  /** Codec names; undefined without such a stream. */
  readonly video: string | undefined;
  readonly audio: string | undefined;
  readonly frameSeconds: number;
}

const usualFrameSeconds = 1 / 30;
/** Keyframes are looked for this far behind the cut. */
const lookAheadSeconds = 0.5;
const entries = 'format=duration,start_time:stream=codec_type,codec_name,avg_frame_rate:stream_disposition=attached_pic';

/** @throws PermanentJobError when it is no recording that ffmpeg can read */
export async function probeRecording(ffmpeg: Ffmpeg, url: string, signal: AbortSignal): Promise<Probed> {
  let text: string;
  try {
    text = (await ffmpeg.probe(['-of', 'json', '-show_entries', entries, '-i', url], { signal })).toString('utf8');
  } catch (error) {
    if (error instanceof FfmpegError)
      throw new PermanentJobError('the recording is no video or audio that ffmpeg can read', { cause: error });
    throw error;
  }
  const parsed: unknown = JSON.parse(text);
  const format = isJsonObject(parsed) && isJsonObject(parsed['format']) ? parsed['format'] : {};
  const streams = isJsonObject(parsed) && Array.isArray(parsed['streams']) ? parsed['streams'].filter(isJsonObject) : [];
  const video = streams.find((stream) => stream['codec_type'] === 'video' && !isCoverPicture(stream));
  const audio = streams.find((stream) => stream['codec_type'] === 'audio');
  const durationSeconds = Number(format['duration']);
  if (!Number.isFinite(durationSeconds) || durationSeconds <= 0 || (video ?? audio) === undefined) {
    throw new PermanentJobError('the recording has no video, no audio or no duration');
  }
  return {
    durationSeconds,
    startSeconds: Number.isFinite(Number(format['start_time'])) ? Number(format['start_time']) : 0,
    video: nameOf(video),
    audio: nameOf(audio),
    frameSeconds: readFrameSeconds(video?.['avg_frame_rate']),
  };
}

/** The keyframe that lies at the cut, half a frame away at most, as seconds of the file's own clock. */
export async function findKeyframe(
  ffmpeg: Ffmpeg,
  url: string,
  cut: { atSeconds: number; frameSeconds: number },
  signal: AbortSignal,
): Promise<number | undefined> {
  const interval = `${cut.atSeconds.toFixed(6)}%${(cut.atSeconds + lookAheadSeconds).toFixed(6)}`;
  const args = [
    '-select_streams',
    'v:0',
    '-show_entries',
    'packet=pts_time,flags',
    '-of',
    'csv=p=0',
    '-read_intervals',
    interval,
    '-i',
    url,
  ];
  const lines = (await ffmpeg.probe(args, { signal })).toString('utf8').split('\n');
  for (const line of lines) {
    const [time = '', flags = ''] = line.split(',');
    const seconds = Number(time);
    if (time === '' || !flags.startsWith('K') || !Number.isFinite(seconds)) continue;
    if (Math.abs(seconds - cut.atSeconds) <= cut.frameSeconds / 2) return seconds;
  }
  return undefined;
}

function nameOf(stream: Record<string, unknown> | undefined): string | undefined {
  const name = stream?.['codec_name'];
  return stream === undefined ? undefined : typeof name === 'string' ? name : 'unknown';
}

function isCoverPicture(stream: Record<string, unknown>): boolean {
  const disposition = stream['disposition'];
  return isJsonObject(disposition) && disposition['attached_pic'] === 1;
}

/** `30000/1001`. */
function readFrameSeconds(rate: unknown): number {
  const [, frames, seconds] = /^(\d+)\/(\d+)$/.exec(typeof rate === 'string' ? rate : '') ?? [];
  const value = Number(seconds) / Number(frames);
  return Number.isFinite(value) && value > 0 && value <= 1 ? value : usualFrameSeconds;
}
