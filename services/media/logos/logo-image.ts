/**
 * Decodes an uploaded logo and encodes it again, so that only the image is stored (rules/media#logo; D51). Only this
 * module imports sharp and file-type. They are loaded on first use, because libvips takes 10 MB.
 */
import { randomBytes } from 'node:crypto';
import type Sharp from 'sharp';
import { AppError } from '#libs/infrastructure/errors';

type LogoFormat = 'jpeg' | 'png' | 'gif' | 'webp';

export interface LogoImage {
  readonly bytes: Buffer;
  readonly extension: string;
  readonly contentType: string;
}

export interface LogoImages {
  /**
   * Returns the image, encoded again in the same format. @throws AppError 400 unless the bytes are a complete jpeg,
   * png, gif or webp image
   */
  reencode(bytes: Uint8Array): Promise<LogoImage>;
}

export interface LogoImageOptions {
  /** Maximum number of pixels of all frames together; default 50 million, which take about 200 MB. */
  readonly maxPixels?: number;
}

/** Formats by content type. Of an animated png only the first frame is stored. */
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

/** Creates an encoder that processes one image at a time on one thread, to limit memory and CPU. */
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

/** Rotates the image upright, converts it to sRGB and removes metadata. Frames and their durations are preserved. */
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

/** Returns a new random key that cannot be guessed. The key is also the path under `/media/`. */
export function newLogoKey(holonId: number, extension: string): string {
  return `logos/${holonId}/${randomBytes(24).toString('base64url')}.${extension}`;
}
