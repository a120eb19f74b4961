/** Scene 4: uploads the audio recording and downloads it again, byte for byte. */
import { createHash } from 'node:crypto';
import type { AudioMetadata } from '#services/media';
import type { HostSession } from './booking.ts';
import { formatBytes, type Narrator } from './narrator.ts';
import { callApi, DemoError, type DemoPlatform } from './platform.ts';

const sampleRate = 16_000;
const seconds = 300;

export async function exchangeAudio(
  platform: DemoPlatform,
  narrator: Narrator,
  host: HostSession,
  conversationId: number,
): Promise<void> {
  narrator.step(
    'The audio is uploaded',
    'The bytes go from the socket to the object store as a stream, whatever their size. The previous audio stays until the new one is stored completely.',
  );
  const path = `/api/coherence/conversations/${conversationId}/audio`;
  const bytes = makeWav();
  const audio = (
    await callApi(platform, 'POST', path, { token: host.token, body: makeForm('open-circle.wav', bytes), expect: 201 })
  ).json as AudioMetadata;
  narrator.result(`POST ${path} → ${audio.name}, ${audio.content_type}, ${formatBytes(audio.size_bytes)}`);
  const refused = await callApi(platform, 'POST', path, {
    token: host.token,
    body: makeForm('notes.txt', bytes),
    expect: 400,
  });
  narrator.result(`a file called notes.txt is refused: ${(refused.json as { error: string }).error}`);

  narrator.step(
    'The audio is downloaded',
    'Only with a token. Players may ask for a part, and a client that has the file already is told so.',
  );
  const whole = await callApi(platform, 'GET', path);
  const sha256 = createHash('sha256').update(whole.bytes).digest('hex');
  if (sha256 !== createHash('sha256').update(bytes).digest('hex')) throw new DemoError('The audio came back changed.');
  narrator.result(`${formatBytes(whole.bytes.byteLength)} came back unchanged, SHA-256 ${sha256.slice(0, 16)}…`);
  const part = await callApi(platform, 'GET', path, { headers: { range: 'bytes=0-43' }, expect: 206 });
  narrator.result(`Range: bytes=0-43 → ${part.status}, ${part.headers.get('content-range')}`);
  const same = await callApi(platform, 'GET', path, {
    headers: { 'if-none-match': whole.headers.get('etag') ?? '' },
    expect: 304,
  });
  narrator.result(`If-None-Match with its ETag → ${same.status}, no byte sent`);
}

function makeForm(fileName: string, bytes: Uint8Array<ArrayBuffer>): FormData {
  const form = new FormData();
  form.append('audio', new Blob([bytes]), fileName);
  return form;
}

/** Returns a WAV file of five minutes with a quiet chord, 16 bit, mono. */
function makeWav(): Uint8Array<ArrayBuffer> {
  const samples = sampleRate * seconds;
  const view = new DataView(new ArrayBuffer(44 + samples * 2));
  const text = (offset: number, value: string): void =>
    Buffer.from(value, 'latin1').forEach((byte, index) => view.setUint8(offset + index, byte));
  text(0, 'RIFF');
  view.setUint32(4, 36 + samples * 2, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, sampleRate, true);
  view.setUint32(28, sampleRate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, samples * 2, true);
  for (let index = 0; index < samples; index += 1) {
    const at = index / sampleRate;
    const tone =
      Math.sin(2 * Math.PI * 220 * at) + Math.sin(2 * Math.PI * 277.2 * at) + Math.sin(2 * Math.PI * 329.6 * at);
    view.setInt16(44 + index * 2, Math.round(tone * 2_500 * (0.6 + 0.4 * Math.sin(2 * Math.PI * 0.1 * at))), true);
  }
  return new Uint8Array(view.buffer);
}
