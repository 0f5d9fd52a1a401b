/** The caller's files that machines need: their faults, and their hashes for the request. */
import { readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileOptions, flagName, type GivenFlags, type GivenOptions } from '../../shared/bootstrap/options.js';
import { uploadText } from '../../shared/bootstrap/upload.js';
import { elfHeaderBytes, linuxAmd64Fault } from '../../shared/linux-binary.js';
import type { Fault } from '../../shared/problems.js';
import { expandHome, homePlaceOf, placeOf, reason, whyUnreadable, withRegularFile } from '../files/files.js';
import { readSecretText, registerUnreadable } from '../files/secret-text.js';
import type { Settings } from '../settings.js';
import { hashOf, type LocalUpload } from './upload-source.js';

export interface Uploads {
  /** What the request carries in place of the paths. */
  readonly options: GivenOptions;
  readonly files: readonly LocalUpload[];
}

interface UploadFaults {
  /** Why the named files are unsuitable. */
  readonly faults: readonly Fault[];
  /** How a package that is sound differs from what other flags ask for. */
  readonly mismatches: readonly Fault[];
  /** What of them is only doubtful. */
  readonly doubts: readonly Fault[];
}

/** Found before any request to the service. */
export async function uploadFaults(given: GivenFlags, settings: Settings): Promise<UploadFaults> {
  const faults: Fault[] = [];
  const mismatches: Fault[] = [];
  const doubts: Fault[] = [];
  for (const option of fileOptions) {
    for (const path of [given[option] ?? []].flat()) {
      const faultOf = (why: string): Fault => ({ path: flagName(option), message: `${path}: ${why}` });
      const place = homePlaceOf(path, settings);
      const why = option === 'remoteCliBinary' ? await binaryFault(place) : whyUnreadable(place);
      if (why !== undefined) faults.push(faultOf(why));
      else if (option === 'installLocal') {
        const found = await (await import('../files/package-file.js')).examinePackage(place, given);
        if (found.fault !== undefined) faults.push(faultOf(found.fault));
        mismatches.push(...found.mismatches.map(faultOf));
      } else if (option === 'pcAppsValues') {
        const found = await examineValues(place, path, settings);
        if (found.fault !== undefined) faults.push(faultOf(found.fault));
        doubts.push(...found.doubts);
      }
    }
  }
  return { faults, mismatches, doubts };
}

/**
 * What is wrong with a values file, or where readers of YAML 1.1 and 1.2 read it differently. Its bytes go as they are, so an
 * install would be the first to meet it.
 */
async function examineValues(place: string, path: string, settings: Settings) {
  const [{ readDocuments }, { differencesIn }, { doubtOf }] = await Promise.all([
    import('../../shared/yaml-text.js'),
    import('../../shared/portable-yaml.js'),
    import('../files/yaml-doubts.js'),
  ]);
  let text: string;
  try {
    text = readSecretText(place, 'values file', settings);
  } catch (error) {
    return { fault: reason(error), doubts: [] };
  }
  const read = readDocuments(text);
  if ('fault' in read) {
    registerUnreadable(text, settings);
    return { fault: `it is not YAML: ${read.fault}`, doubts: [] };
  }
  const nodes = read.documents.flatMap(({ contents }) => contents ?? []);
  return { fault: undefined, doubts: doubtOf('--pc-apps-values', path, differencesIn(text, nodes)) };
}

/** Reads each file once. They were checked before. */
export async function readUploads(given: GivenFlags, settings: Settings): Promise<Uploads> {
  const options: Record<string, string | string[]> = {};
  const files: LocalUpload[] = [];
  for (const option of fileOptions) {
    const value = given[option];
    if (value === undefined) continue;
    const found = await Promise.all(
      (typeof value === 'string' ? [value] : value).map((path) =>
        readUpload(expandHome(path, settings.home), settings),
      ),
    );
    files.push(...found);
    const texts = found.map(uploadText);
    options[option] = typeof value === 'string' ? (texts[0] as string) : texts;
  }
  return { options: options as GivenOptions, files };
}

async function readUpload(path: string, settings: Settings): Promise<LocalUpload> {
  const place = placeOf(path, settings);
  return { path, place, name: basename(path), sha256: await hashOf(place), bytes: (await stat(place)).size };
}

/** Why a command line cannot run on a machine. Undefined if nothing speaks against it. */
function binaryFault(path: string): string | undefined {
  try {
    return withRegularFile(path, (file) => {
      const bytes = Buffer.alloc(elfHeaderBytes);
      return linuxAmd64Fault(bytes.subarray(0, readSync(file, bytes, 0, elfHeaderBytes, 0)));
    });
  } catch (error) {
    return reason(error);
  }
}
