import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createContext } from '../context.ts';
import { FileImport } from './files.ts';

const { MEDIA_INTERNAL_URL: given } = process.env;
afterEach(() => {
  if (given === undefined) delete process.env['MEDIA_INTERNAL_URL'];
  else process.env['MEDIA_INTERNAL_URL'] = given;
});
const check = (url: string): Promise<void> => {
  process.env['MEDIA_INTERNAL_URL'] = url;
  return new FileImport(createContext(), 'workspace.yaml').checkService();
};

describe('FileImport.checkService', () => {
  it('looks whether somebody is there, and asks nothing', async () => {
    let received = 0;
    const server = createServer((socket) => socket.on('data', (chunk) => (received += chunk.length)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await check(`http://127.0.0.1:${port}`);
    await new Promise((resolve) => server.close(resolve)); // when every connection has ended
    expect(received).toBe(0);
  });

  it.each(['http://127.0.0.1:1', 'http://localhost:1', 'http://[::1]:1'])('says where nobody is: %s', async (url) => {
    const problem = await check(url).catch((error: Error) => error.message);
    expect(problem).toContain(`The media service at ${url} (MEDIA_INTERNAL_URL) cannot be reached: `);
    expect(problem).toMatch(/ECONNREFUSED|EADDRNOTAVAIL/);
  });

  it('says which setting is missing', async () => {
    await expect(check('')).rejects.toThrow('MEDIA_INTERNAL_URL is not set');
  });
});
