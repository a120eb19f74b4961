import { createServer, type Server } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from '@jest/globals';
import { listen, reachableAddress } from './listen.ts';

const servers: Server[] = [];
const make = (): Server => {
  const server = createServer((_request, response) => void response.end());
  servers.push(server);
  return server;
};
const answers = (address: string): Promise<boolean> =>
  fetch(`http://${address}`).then(
    () => true,
    () => false,
  );
const others = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .filter(({ internal, family }) => !internal && family === 'IPv4')
  .map(({ address }) => address);

afterEach(() => servers.splice(0).forEach((server) => server.close()));

describe('listen', () => {
  it('on the loopback address is reached by no other address of the machine, on :: by every one', async () => {
    const closed = await listen(make(), { host: '127.0.0.1', port: 0, portName: 'PORT' });
    const open = await listen(make(), { host: '::', port: 0, portName: 'PORT' });
    await expect(answers(`127.0.0.1:${closed}`)).resolves.toBe(true);
    await expect(answers(`127.0.0.1:${open}`)).resolves.toBe(true);
    for (const address of others) {
      await expect(answers(`${address}:${closed}`)).resolves.toBe(false);
      await expect(answers(`${address}:${open}`)).resolves.toBe(true);
    }
  });

  it('names the setting, or the host, that cannot be used', async () => {
    const port = await listen(make(), { host: '127.0.0.1', port: 0, portName: 'PORT' });
    await expect(listen(make(), { host: '127.0.0.1', port, portName: 'METRICS_PORT' })).rejects.toThrow(`METRICS_PORT ${port} is in use`);
    await expect(listen(make(), { host: '203.0.113.7', port: 0, portName: 'PORT' })).rejects.toThrow(
      '203.0.113.7 is no address of this machine',
    );
  });
});

describe('the address by which a machine reaches itself', () => {
  it.each([
    ['::', '127.0.0.1:8080'],
    ['0.0.0.0', '127.0.0.1:8080'],
    ['127.0.0.1', '127.0.0.1:8080'],
    ['::1', '[::1]:8080'],
    ['192.0.2.7', '192.0.2.7:8080'],
  ])('of who listens on %s is %s', (host, address) => {
    expect(reachableAddress(host, 8080)).toBe(address);
  });
});
