/**
 * The SFTP subsystem of a simulated VM, protocol version 3 with OpenSSH's extensions (draft-ietf-secsh-filexfer-02, PROTOCOL).
 * Runs inside the VM, on standard input and output, and so sees what its user sees; imports nothing but Node.
 */
import * as fs from 'node:fs';
import { resolve } from 'node:path';

const reply = { version: 2, status: 101, handle: 102, data: 103, name: 104, attributes: 105, extended: 201 } as const;
const status = {
  ok: 0,
  eof: 1,
  noSuchFile: 2,
  permissionDenied: 3,
  failure: 4,
  badMessage: 5,
  unsupported: 8,
} as const;
const extensions = ['posix-rename@openssh.com', 'hardlink@openssh.com', 'fsync@openssh.com'];

type Open = { readonly fd: number } | { readonly names: string[]; readonly path: string };
const opened = new Map<string, Open>();
let lastHandle = 0;

/** Reads the fields of one request in turn. */
function createReader(packet: Buffer) {
  let at = 0;
  const skip = (length: number): number => {
    at += length;
    return at - length;
  };
  const uint32 = () => packet.readUInt32BE(skip(4));
  const bytes = () => {
    const length = uint32();
    const from = skip(length);
    return packet.subarray(from, from + length);
  };
  return {
    byte: () => packet.readUInt8(skip(1)),
    uint32,
    uint64: () => Number(packet.readBigUInt64BE(skip(8))),
    bytes,
    text: () => bytes().toString(),
  };
}
type Reader = ReturnType<typeof createReader>;

const uint32 = (value: number): Buffer => {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(value >>> 0);
  return buffer;
};
const uint64 = (value: number): Buffer => {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64BE(BigInt(value));
  return buffer;
};
const chunk = (content: string | Buffer): Buffer => {
  const buffer = Buffer.from(content);
  return Buffer.concat([uint32(buffer.length), buffer]);
};
function send(type: number, ...parts: Buffer[]): void {
  const length = parts.reduce((sum, part) => sum + part.length, 1);
  process.stdout.write(Buffer.concat([uint32(length), Buffer.from([type]), ...parts]));
}
const sendStatus = (id: number, code: number, message = ''): void =>
  send(reply.status, uint32(id), uint32(code), chunk(message), chunk(''));

const attributesOf = (stats: fs.Stats): Buffer =>
  Buffer.concat([
    uint32(0x1 | 0x2 | 0x4 | 0x8),
    ...[uint64(stats.size), uint32(stats.uid), uint32(stats.gid), uint32(stats.mode)],
    ...[uint32(Math.floor(stats.atimeMs / 1000)), uint32(Math.floor(stats.mtimeMs / 1000))],
  ]);

interface Attributes {
  size?: number;
  mode?: number;
  times?: readonly [number, number];
}

function readAttributes(from: Reader): Attributes {
  const flags = from.uint32();
  const attributes: Attributes = {};
  if (flags & 0x1) attributes.size = from.uint64();
  // There is one user number here: whose a file is cannot be changed.
  if (flags & 0x2) [from.uint32(), from.uint32()];
  if (flags & 0x4) attributes.mode = from.uint32() & 0o7777;
  if (flags & 0x8) attributes.times = [from.uint32(), from.uint32()];
  return attributes;
}

function apply(path: string, { size, mode, times }: Attributes): void {
  if (size !== undefined) fs.truncateSync(path, size);
  if (mode !== undefined) fs.chmodSync(path, mode);
  if (times !== undefined) fs.utimesSync(path, times[0], times[1]);
}

const flagsOf = (wanted: number): number => {
  const [reads, writes] = [(wanted & 0x1) !== 0, (wanted & 0x2) !== 0];
  let flags = writes ? (reads ? fs.constants.O_RDWR : fs.constants.O_WRONLY) : fs.constants.O_RDONLY;
  if (wanted & 0x4) flags |= fs.constants.O_APPEND;
  if (wanted & 0x8) flags |= fs.constants.O_CREAT;
  if (wanted & 0x10) flags |= fs.constants.O_TRUNC;
  if (wanted & 0x20) flags |= fs.constants.O_EXCL;
  return flags;
};

function keep(id: number, what: Open): void {
  const handle = String(++lastHandle);
  opened.set(handle, what);
  send(reply.handle, uint32(id), chunk(handle));
}

function found(handle: string): Open {
  const open = opened.get(handle);
  if (open === undefined) throw Object.assign(new Error('no such handle'), { code: 'EBADF' });
  return open;
}

function fileOf(handle: string): number {
  const open = found(handle);
  if (!('fd' in open)) throw Object.assign(new Error('not a file'), { code: 'EBADF' });
  return open.fd;
}

/** As `ls -l` shows it; OpenSSH's client prints it as it is. */
const longName = (name: string, stats: fs.Stats): string =>
  `${stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : '-'}${(stats.mode & 0o777).toString(8)} 1 root root ${stats.size} ${stats.mtime.toISOString().slice(0, 16)} ${name}`;

function sendNames(
  id: number,
  entries: readonly { readonly name: string; readonly stats?: fs.Stats | undefined }[],
): void {
  const parts = entries.flatMap(({ name, stats }) => [
    chunk(name),
    chunk(stats === undefined ? name : longName(name, stats)),
    stats === undefined ? uint32(0) : attributesOf(stats),
  ]);
  send(reply.name, uint32(id), uint32(entries.length), ...parts);
}

function readDirectory(id: number, open: Open): void {
  if (!('names' in open)) throw Object.assign(new Error('not a folder'), { code: 'EBADF' });
  const some = open.names.splice(0, 100);
  if (some.length === 0) {
    sendStatus(id, status.eof);
    return;
  }
  sendNames(
    id,
    some.map((name) => ({ name, stats: fs.lstatSync(resolve(open.path, name), { throwIfNoEntry: false }) })),
  );
}

/** By type of request. */
const requests: Readonly<Record<number, (id: number, from: Reader) => void>> = {
  3: (id, from) => {
    const [path, wanted] = [from.text(), from.uint32()];
    const { mode } = readAttributes(from);
    keep(id, { fd: fs.openSync(path, flagsOf(wanted), mode ?? 0o666) });
  },
  4: (id, from) => {
    const handle = from.text();
    const open = found(handle);
    opened.delete(handle);
    if ('fd' in open) fs.closeSync(open.fd);
    sendStatus(id, status.ok);
  },
  5: (id, from) => {
    const fd = fileOf(from.text());
    const at = from.uint64();
    const buffer = Buffer.alloc(Math.min(from.uint32(), 256 * 1024));
    const length = fs.readSync(fd, buffer, 0, buffer.length, at);
    if (length === 0) sendStatus(id, status.eof);
    else send(reply.data, uint32(id), chunk(buffer.subarray(0, length)));
  },
  6: (id, from) => {
    const fd = fileOf(from.text());
    const at = from.uint64();
    const data = from.bytes();
    for (let done = 0; done < data.length; ) done += fs.writeSync(fd, data, done, data.length - done, at + done);
    sendStatus(id, status.ok);
  },
  7: (id, from) => send(reply.attributes, uint32(id), attributesOf(fs.lstatSync(from.text()))),
  8: (id, from) => send(reply.attributes, uint32(id), attributesOf(fs.fstatSync(fileOf(from.text())))),
  9: (id, from) => {
    apply(from.text(), readAttributes(from));
    sendStatus(id, status.ok);
  },
  10: (id, from) => {
    apply(`/proc/self/fd/${fileOf(from.text())}`, readAttributes(from));
    sendStatus(id, status.ok);
  },
  11: (id, from) => {
    const path = from.text();
    keep(id, { path: resolve(path), names: ['.', '..', ...fs.readdirSync(path)] });
  },
  12: (id, from) => readDirectory(id, found(from.text())),
  13: (id, from) => {
    fs.unlinkSync(from.text());
    sendStatus(id, status.ok);
  },
  14: (id, from) => {
    const path = from.text();
    fs.mkdirSync(path, readAttributes(from).mode ?? 0o777);
    sendStatus(id, status.ok);
  },
  15: (id, from) => {
    fs.rmdirSync(from.text());
    sendStatus(id, status.ok);
  },
  16: (id, from) => sendNames(id, [{ name: resolve(from.text()) }]),
  17: (id, from) => send(reply.attributes, uint32(id), attributesOf(fs.statSync(from.text()))),
  18: (id, from) => {
    const [path, to] = [from.text(), from.text()];
    // As OpenSSH: only its own extension replaces what is there.
    fs.linkSync(path, to);
    fs.unlinkSync(path);
    sendStatus(id, status.ok);
  },
  19: (id, from) => sendNames(id, [{ name: fs.readlinkSync(from.text()) }]),
  20: (id, from) => {
    // OpenSSH has them in this order, against the draft.
    const [target, path] = [from.text(), from.text()];
    fs.symlinkSync(target, path);
    sendStatus(id, status.ok);
  },
  200: (id, from) => {
    const name = from.text();
    if (name === 'posix-rename@openssh.com') fs.renameSync(from.text(), from.text());
    else if (name === 'hardlink@openssh.com') fs.linkSync(from.text(), from.text());
    else if (name === 'fsync@openssh.com') fs.fsyncSync(fileOf(from.text()));
    else return sendStatus(id, status.unsupported, 'Operation unsupported');
    sendStatus(id, status.ok);
  },
};

const codes: Readonly<Record<string, readonly [number, string]>> = {
  ENOENT: [status.noSuchFile, 'No such file'],
  ENOTDIR: [status.noSuchFile, 'No such file'],
  EACCES: [status.permissionDenied, 'Permission denied'],
  EPERM: [status.permissionDenied, 'Permission denied'],
  EROFS: [status.permissionDenied, 'Permission denied'],
};

function answer(packet: Buffer): void {
  const from = createReader(packet);
  const type = from.byte();
  if (type === 1) {
    const offered = extensions.flatMap((name) => [chunk(name), chunk('1')]);
    send(reply.version, uint32(3), ...offered);
    return;
  }
  const id = from.uint32();
  const request = requests[type];
  if (request === undefined) {
    sendStatus(id, status.unsupported, 'Operation unsupported');
    return;
  }
  try {
    request(id, from);
  } catch (error) {
    const [code, message] = codes[(error as NodeJS.ErrnoException).code ?? ''] ?? [status.failure, 'Failure'];
    sendStatus(id, code, message);
  }
}

let waiting: Buffer = Buffer.alloc(0);
process.stdin.on('data', (data: Buffer) => {
  waiting = waiting.length === 0 ? data : Buffer.concat([waiting, data]);
  while (waiting.length >= 4) {
    const length = waiting.readUInt32BE(0);
    if (waiting.length < 4 + length) return;
    answer(waiting.subarray(4, 4 + length));
    waiting = waiting.subarray(4 + length);
  }
});
