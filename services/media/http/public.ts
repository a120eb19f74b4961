/** What the public port serves: files that need no token, under addresses that nobody guesses (rules/media#video; rules/media#logo). */
import { notFound } from '#libs/errors';
import { type Exchange, type Listener, methodNotAllowed } from './server.ts';

const filePath = /^\/media\/([a-z]{1,40}\/[0-9]{1,10}\/[A-Za-z0-9_-]{32}\.[a-z0-9]{1,8})$/;

/** `query` is that of the address. */
export type ServeFile = (exchange: Exchange, objectKey: string, query: URLSearchParams) => Promise<void>;

export function createPublicListener(serveFile: ServeFile): Listener {
  return {
    portName: 'PORT',
    paths: [{ pattern: filePath, template: '/media/{folder}/{owner}/{file}', surface: 'api' }],
    serve: (exchange, path, query) => {
      const objectKey = filePath.exec(path)?.[1];
      if (objectKey === undefined) throw notFound();
      if (exchange.request.method !== 'GET' && exchange.request.method !== 'HEAD') throw methodNotAllowed();
      return serveFile(exchange, objectKey, query);
    },
  };
}
