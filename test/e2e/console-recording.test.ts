/**
 * Conversation recordings in the console: played by a real browser under the page's content security policy, for
 * authorized users (P6, T4, D69).
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { provideFfmpeg, provideTimeoutMs, waitFor } from '#libs/product/testing';
import type { Page, Response } from 'playwright-core';
import { makeClock } from '../integration/media/talking-clock.ts';
import { type ConsoleBrowser, startConsoleBrowser } from './console-browser.ts';
import { makeSilence } from './silence.ts';

const seconds = 6;
const sound = makeSilence(4_000);

let browser: ConsoleBrowser;
let film: Buffer;
let conversation: number;
/** URL prefix of the console's calls for the recording. */
let calls: string;
beforeAll(async () => {
  film = await makeClock(await provideFfmpeg(), seconds, 1);
  browser = await startConsoleBrowser(import.meta.url, { CONVERSATION_ACCESS: 'members' });
  const folder = await mkdtemp(join(tmpdir(), 'recording-'));
  try {
    await Promise.all([
      writeFile(join(folder, 'talk.mp4'), film),
      writeFile(join(folder, 'talk.wav'), sound),
      writeFile(
        join(folder, 'talk.json'),
        JSON.stringify({
          conversations: [
            {
              key: 'talk',
              participants: ['editor'],
              recording: { full: 'talk.mp4' },
              audio: 'talk.wav',
              transcript: Array.from({ length: seconds }, (_item, second) => ({
                start_ms: second * 1_000,
                end_ms: second * 1_000 + 900,
                speaker: 'Gwen',
                text: `It is second ${second}`,
              })),
            },
          ],
        }),
      ),
    ]);
    conversation = (await browser.platform.ask('workspace', 'apply', join(folder, 'talk.json'))).ids.conversations.talk;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  calls = `/console/api/coherence/conversations/${conversation}`;
}, provideTimeoutMs);
afterEach(async () => expect(await browser.endTest()).toEqual({ elsewhere: [], complaints: [] }));
afterAll(() => browser.stop());

/** Reads a property of the player. */
const ask = (page: Page, player: 'video' | 'audio', what: string): Promise<any> =>
  page.evaluate(`(() => { const player = document.querySelector('${player}'); return ${what}; })()`);

/** Starts the player by keyboard, because browsers block playback without a user action. */
async function play(page: Page, player: 'video' | 'audio'): Promise<void> {
  await page.locator(player).focus();
  await page.keyboard.press('Space');
  await waitFor(async () => (await ask(page, player, 'player.currentTime > 0.2 && !player.paused')) === true, {
    what: `the ${player} that plays`,
  });
}

/** Fetches a range of a file in a page script, bypassing the browser cache. */
const fetchPart = (
  page: Page,
  url: string,
  range: string,
  options = '{}',
): Promise<{ status: number; range: string; body: string }> =>
  page.evaluate(`fetch('${url}', { cache: 'no-store', headers: { Range: '${range}' }, ...${options} }).then(async (answer) => ({
    status: answer.status, range: answer.headers.get('content-range') ?? '',
    body: [...new Uint8Array(await answer.arrayBuffer())].map((byte) => byte.toString(16).padStart(2, '0')).join('') }))`);
const hex = (bytes: Uint8Array, from: number, to: number): string =>
  Buffer.from(bytes.subarray(from, to)).toString('hex');

function describeAnswer(answers: readonly Response[], part: string): (number | string | undefined)[] {
  const answer = answers.find((item) => item.url().includes(part));
  return [
    answer?.status(),
    answer?.headers()['content-type'],
    answer?.headers()['content-range'],
    answer?.request().headers()['range'],
  ];
}

describe('recording of a conversation in the console (P6, T4)', () => {
  it('plays as video with captions and as audio for participants, by range requests, and loads nothing before playback', async () => {
    const page = await browser.open('editor', '/console/conversations');
    const answers: Response[] = [];
    page.on('response', (answer) => answers.push(answer));
    const opened = await page.goto(`${browser.platform.baseUrl}/console/conversations/${conversation}`);
    expect(opened?.headers()['content-security-policy']).toContain("default-src 'none'");
    await page.getByText('Metadata').waitFor();
    expect(answers.filter((answer) => /\/media\/|captions|\/audio$/.test(answer.url()))).toEqual([]);

    await play(page, 'video');
    const wholeFilm = `bytes 0-${film.length - 1}/${film.length}`;
    expect(describeAnswer(answers, '/media/')).toEqual([206, 'video/mp4', wholeFilm, 'bytes=0-']);
    expect(await ask(page, 'video', '[player.videoWidth, player.videoHeight, Math.round(player.duration)]')).toEqual([
      160,
      120,
      seconds,
    ]);

    await ask(page, 'video', `player.pause(), player.textTracks[0].mode = 'showing'`);
    await waitFor(async () => (await ask(page, 'video', `player.textTracks[0].cues?.length`)) === seconds);
    expect(describeAnswer(answers, '/captions.vtt').slice(0, 2)).toEqual([200, 'text/vtt; charset=utf-8']);
    await ask(page, 'video', 'player.currentTime = 4.3');
    await waitFor(
      async () => (await ask(page, 'video', `player.textTracks[0].activeCues[0]?.text`)) === '<v Gwen>It is second 4',
    );
    expect(await ask(page, 'video', '[player.seeking, player.error]')).toEqual([false, null]);

    await play(page, 'audio');
    const wholeSound = `bytes 0-${sound.length - 1}/${sound.length}`;
    expect(describeAnswer(answers, `${conversation}/audio`)).toEqual([206, 'audio/wav', wholeSound, 'bytes=0-']);
    expect(await ask(page, 'audio', '[Math.round(player.duration), player.error]')).toEqual([4, null]);

    const address = String(await ask(page, 'video', `player.getAttribute('src')`));
    expect(await fetchPart(page, address, 'bytes=1000-1009')).toEqual({
      status: 206,
      range: `bytes 1000-1009/${film.length}`,
      body: hex(film, 1_000, 1_010),
    });
    expect(await fetchPart(page, `${calls}/audio`, 'bytes=-8')).toMatchObject({
      status: 206,
      body: hex(sound, sound.length - 8, sound.length),
    });
    expect(await fetchPart(page, address, `bytes=${film.length}-`)).toMatchObject({
      status: 416,
      range: `bytes */${film.length}`,
    });
  });

  it('returns 404 for a recording to callers who cannot see the conversation and to requests without a session', async () => {
    const page = await browser.open('viewer', '/console/conversations');
    const answers: Response[] = [];
    page.on('response', (answer) => answers.push(answer));
    await page.goto(`${browser.platform.baseUrl}/console/conversations/${conversation}`);
    await page.getByRole('alert').getByText('Not found', { exact: true }).waitFor();
    expect(await page.locator('video, audio, track, a[download]').count()).toBe(0);
    for (const part of ['', '/summary', '/video', '/captions.vtt', '/audio', '/transcript?format=vtt']) {
      expect([part, (await fetchPart(page, `${calls}${part}`, 'bytes=0-')).status]).toEqual([part, 404]);
      expect([part, (await fetchPart(page, `${calls}${part}`, 'bytes=0-', `{ credentials: 'omit' }`)).status]).toEqual([
        part,
        401,
      ]);
    }
    const texts = await Promise.all(
      answers.filter((answer) => answer.url().includes(calls)).map((answer) => answer.text()),
    );
    expect(texts.length).toBeGreaterThan(10);
    expect(texts.filter((text) => /\/media\/|Gwen|talk\./.test(text))).toEqual([]);
    expect(answers.filter((answer) => answer.url().includes('/media/'))).toEqual([]);
  });
});
