/** What gathers a body that arrives in pieces. It brings more than two hundred modules, and most bodies come with their heads. */
import koaBody from 'koa-body';
import { maxBodyBytes } from './body-size.ts';

/** "Text" of no encoding: the bytes as they are. Its own readers of JSON and forms would change them. */
export const bufferBody = koaBody({ text: true, textLimit: maxBodyBytes, encoding: '', json: false, urlencoded: false });
