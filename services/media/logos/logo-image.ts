/**
 * Decodes an uploaded logo and encodes it again, so that only the picture is stored (rules/media#logo; D51). The only
 * importer of sharp and file-type, which are loaded on first use: libvips takes 10 MB.
 */
import { randomBytes } from 'node:crypto';
import type Sharp from 'sharp';
import { AppError } from '#libs/errors';

type LogoFormat = 'jpeg' | 'png' | 'gif' | 'webp';

export interface LogoImage {
  readonly bytes: Buffer;
  readonly extension: string;
  readonly contentType: string;
}

export interface LogoImages {
  /** @throws AppError 400 for anything but a complete jpeg, png, gif or webp picture */
  reencode(bytes: Uint8Array): Promise<LogoImage>;
}

export interface LogoImageOptions {
  /** Limit of pixels of all frames together; default 50 million, which take about 200 MB. */
  readonly maxPixels?: number;
}

/** An animated png keeps only its first frame. */
const formats: Readonly<Record<string, LogoFormat>> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/apng': 'png',
  'image/gif': 'gif',
  'image/webp': 'webp',
};
const extensions: Readonly<Record<LogoFormat, string>> = { jpeg: 'jpg', png: 'png', gif: 'gif', webp: 'webp' };
const defaultMaxPixels = 50_000_000;
const quality = 90;
const timeoutSeconds = 30;

/** Encodes one picture at a time on one thread, so that memory and CPU are bounded. */
export function createLogoImages({ maxPixels = defaultMaxPixels }: LogoImageOptions = {}): LogoImages {
  let tools: ReturnType<typeof loadTools> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return {
    reencode: async (bytes) => {
      const { sharp, fileTypeFromBuffer } = await (tools ??= loadTools());
      const format = formats[(await fileTypeFromBuffer(bytes))?.mime ?? ''];
      if (format === undefined) throw invalidLogo('The logo must be a jpeg, png, gif or webp image.');
      const encoded = last.then(() => encode(sharp, bytes, format, maxPixels));
      last = encoded.catch(() => undefined);
      return { bytes: await encoded, extension: extensions[format], contentType: `image/${format}` };
    },
  };
}

async function loadTools() {
  const [{ default: sharp }, { fileTypeFromBuffer }] = await Promise.all([import('sharp'), import('file-type')]);
  sharp.concurrency(1);
  sharp.cache(false);
  return { sharp, fileTypeFromBuffer };
}

/** Rotates upright, converts to sRGB and removes metadata; frames and their durations are kept. */
async function encode(sharp: typeof Sharp, bytes: Uint8Array, format: LogoFormat, maxPixels: number): Promise<Buffer> {
  const animated = format === 'gif' || format === 'webp';
  try {
    const picture = sharp(bytes, { animated, limitInputPixels: maxPixels, failOn: 'error' }).timeout({
      seconds: timeoutSeconds,
    });
    const upright = animated ? picture : picture.autoOrient();
    return await upright.toFormat(format, format === 'jpeg' || format === 'webp' ? { quality } : {}).toBuffer();
  } catch (error) {
    throw invalidLogo('The logo cannot be decoded, or has too many pixels.', { cause: error });
  }
}

export function invalidLogo(message: string, options?: ErrorOptions): AppError {
  return new AppError({ code: 'bad_request', message }, options);
}

/** A new random key, which is also the path under `/media/` and cannot be guessed. */
export function newLogoKey(holonId: number, extension: string): string {
  return `logos/${holonId}/${randomBytes(24).toString('base64url')}.${extension}`;
}
