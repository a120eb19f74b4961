/** One picture of a recording as JPEG, at most 1280 pixels wide. */
import { FfmpegError, type Ffmpeg } from '#libs/ffmpeg';

const maxPictureBytes = 4 * 1_048_576;

/** @throws FfmpegError */
export async function takePicture(ffmpeg: Ffmpeg, url: string, seconds: number, signal: AbortSignal): Promise<Buffer> {
  const filter = "scale='min(1280,iw)':-2";
  const output = ['-map', '0:v:0', '-frames:v', '1', '-vf', filter, '-q:v', '3', '-c:v', 'mjpeg', '-f', 'image2pipe', 'pipe:1'];
  const bytes = await ffmpeg.run([...ffmpeg.input(url, seconds), ...output], { signal, maxOutputBytes: maxPictureBytes });
  if (bytes.byteLength === 0) throw new FfmpegError('ffmpeg', 'gave no picture', '', false);
  return bytes;
}
