/** Shapes that several features share. */
import { Type } from '#libs/contract';

export const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });

export const conversationId = Type.Integer({ description: 'Id of the conversation.' });
