//! Exports that clients may ask for by name: the drive, or ranges of it.

use copyback::workload::Handle;

/// A range of the drive under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Name of the export; clients that ask for none get the one with an empty name.
    pub name: String,
    /// First byte of the export on the drive.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// The placement handle that all its writes name.
    pub handle: Option<Handle>,
}

/// Index of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportId(pub usize);

/// All exports.
#[derive(Debug, Clone)]
pub struct Exports(Vec<Export>);

impl Exports {
    /// Checks exports of a drive of `capacity` bytes; without any, the whole drive is exported without a name.
    ///
    /// # Errors
    /// If one reaches beyond the drive, has no bytes, or a name that another has.
    pub fn new(mut exports: Vec<Export>, capacity: u64) -> Result<Self, String> {
        for (index, Export { name, offset, length, .. }) in exports.iter().enumerate() {
            if *length == 0 || offset.checked_add(*length).is_none_or(|end| end > capacity) {
                return Err(format!(
                    "--export {name}: found {length} bytes from {offset}; allowed: at least one, up to the \
                     capacity of {capacity}"
                ));
            }
            if exports[..index].iter().any(|other| other.name == *name) {
                return Err(format!("--export {name}: found twice; allowed: a name once"));
            }
        }
        if exports.is_empty() {
            let name = String::new();
            exports.push(Export { name, offset: 0, length: capacity, handle: None });
        }
        Ok(Self(exports))
    }

    /// The one of this name.
    pub fn find(&self, name: &[u8]) -> Option<ExportId> {
        self.0.iter().position(|export| export.name.as_bytes() == name).map(ExportId)
    }

    /// One of them.
    pub fn get(&self, id: ExportId) -> &Export {
        &self.0[id.0]
    }

    /// Names of the exports.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|export| export.name.as_str())
    }
}
