package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// What the go command remembers of earlier calls goes with the archives, or adding one package would compile everything
// that it imports again. It is kept as tar files beside them: small files as they are, archives as links to where the
// host keeps them anyway.

// maxEntryBytes is far above what the go command notes beside archives. What is larger (commands that were run) is no loss.
const maxEntryBytes = 512 * 1024

// restoreCache makes the go command's cache of what lies in known, and tells which files are in it then.
func restoreCache(cache, known string) (map[string]bool, error) {
	restored := map[string]bool{}
	if known == "" {
		return restored, nil
	}
	packs, err := filepath.Glob(filepath.Join(known, "*.tar"))
	if err != nil {
		return nil, err
	}
	for _, pack := range packs {
		if err := unpack(pack, cache, known, restored); err != nil {
			return nil, err
		}
	}
	return restored, nil
}

func unpack(pack, cache, known string, restored map[string]bool) error {
	file, err := os.Open(pack)
	if err != nil {
		return err
	}
	defer file.Close()
	entries := tar.NewReader(file)
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(cache, filepath.Clean("/"+entry.Name))
		if restored[path] {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if entry.Typeflag == tar.TypeSymlink {
			err = os.Symlink(filepath.Join(known, filepath.Base(entry.Linkname)), path)
		} else {
			var content []byte
			if content, err = io.ReadAll(entries); err == nil {
				err = os.WriteFile(path, content, 0o600)
			}
		}
		if err != nil {
			return err
		}
		restored[path] = true
	}
}

// giveCache hands over what is new in the go command's cache. archives are the files that have been handed over by name.
func giveCache(cache string, restored map[string]bool, archives map[string]string, give func(string, []byte)) error {
	var packed bytes.Buffer
	entries := tar.NewWriter(&packed)
	err := filepath.WalkDir(cache, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || restored[path] {
			return err
		}
		name, err := filepath.Rel(cache, path)
		if err != nil {
			return err
		}
		if archive := archives[path]; archive != "" {
			return entries.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: archive, Mode: 0o444})
		}
		content, err := os.ReadFile(path)
		if err != nil || len(content) > maxEntryBytes {
			return err
		}
		if err := entries.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o444}); err != nil {
			return err
		}
		_, err = entries.Write(content)
		return err
	})
	if err == nil {
		err = entries.Close()
	}
	if err != nil {
		return err
	}
	digest := sha256.Sum256(packed.Bytes())
	give("entries-"+hex.EncodeToString(digest[:12])+".tar", packed.Bytes())
	return nil
}
