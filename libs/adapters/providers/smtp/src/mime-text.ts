import { encode as encodeBase64, wrap as wrapBase64 } from 'nodemailer/lib/base64';
import type MimeNode from 'nodemailer/lib/mime-node';
import { encode as encodeQuoted, wrap as wrapQuoted } from 'nodemailer/lib/qp';

function contentOf(node: MimeNode): string {
  const { content } = node;
  if (content === undefined || content === '') return '';
  if (typeof content !== 'string') throw new TypeError('a part is not text');
  const encoding = node.getTransferEncoding();
  if (encoding === 'quoted-printable') return wrapQuoted(encodeQuoted(content));
  return encoding === 'base64' ? wrapBase64(encodeBase64(content)) : content;
}

/** Headers and content of a part, and between boundaries the parts within it (RFC 2046, 5.1.1). */
function partOf(node: MimeNode): string {
  // Writing its headers is what gives a part its boundary.
  const part = `${node.buildHeaders()}\r\n\r\n${contentOf(node)}`;
  if (!node.multipart) return part;
  const parts = node.childNodes.map((child) => `--${node.boundary}\r\n${partOf(child)}\r\n`);
  return `${part}${parts.join('')}--${node.boundary}--\r\n`;
}

/**
 * Returns the result of `root.build()` for text parts, with the library's headers, encodings and boundaries. Every line
 * ends with CRLF. Synchronous, whereas the library needs several streams and a dozen ticks per part, during which a
 * connection would wait.
 */
export function mimeText(root: MimeNode): Buffer {
  const text = partOf(root).replaceAll(/\r?\n/g, '\r\n');
  if (text.endsWith('\n')) return Buffer.from(text);
  return Buffer.from(text.endsWith('\r') ? `${text}\n` : `${text}\r\n`);
}
