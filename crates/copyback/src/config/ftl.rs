//! `[ssd.ftl]`: the translation layer.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::{
    choice::choice,
    quantity::{Share, Size},
};

/// Flash translation layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ftl {
    /// How logical pages map to physical ones.
    pub mapping: Mapping,
    /// Which plane a logical page is written to.
    pub allocation: Allocation,
    /// Share of physical pages that the host does not see: logical pages = physical pages x
    /// (1 - over_provisioning).
    pub over_provisioning: Share,
    /// Whether host writes and collected pages fill separate open blocks or the same one.
    pub frontiers: Frontiers,
    /// Order in which erased blocks are used again.
    pub free_blocks: FreeBlockOrder,
    /// The last page of every block holds the block's summary and no data.
    pub summary_page: SummaryPage,
}

impl Default for Ftl {
    fn default() -> Self {
        Self {
            mapping: Mapping::Page,
            allocation: Allocation::Order(AllocationOrder::Cwdp),
            over_provisioning: Share(0.15),
            frontiers: Frontiers::Separate,
            free_blocks: FreeBlockOrder::Fifo,
            summary_page: SummaryPage::None,
        }
    }
}

/// How logical pages map to physical ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mapping {
    /// Every logical page maps to any physical page; the whole table is in RAM.
    Page,
}

/// Which plane a logical page is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Allocation {
    /// Static: successive logical pages go round the levels in this order, first letter fastest.
    Order(AllocationOrder),
    /// Decided at the time of writing.
    Choice(AllocationChoice),
    /// Static down to the die, and a rule for the plane.
    Mixed {
        /// Order of the levels; the plane's place in it is ignored.
        order: AllocationOrder,
        /// How the plane of the die is chosen.
        plane: PlaneChoice,
    },
}

impl<'de> Deserialize<'de> for Allocation {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(AllocationVisitor)
    }
}

struct AllocationVisitor;

impl<'de> de::Visitor<'de> for AllocationVisitor {
    type Value = Allocation;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "an order of the letters C, W, D and P such as \"CWDP\", \"dynamic\", or a table such \
             as { order = \"CWDP\", plane = \"most_free\" }",
        )
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Allocation, E> {
        if text == "dynamic" {
            return Ok(Allocation::Choice(AllocationChoice::Dynamic));
        }
        let order = AllocationOrder::ALL.into_iter().find(|order| order.letters() == text);
        order
            .map(Allocation::Order)
            .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, table: A) -> Result<Allocation, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Mixed {
            order: AllocationOrder,
            plane: PlaneChoice,
        }
        let Mixed { order, plane } =
            Mixed::deserialize(de::value::MapAccessDeserializer::new(table))?;
        Ok(Allocation::Mixed { order, plane })
    }
}

/// Allocation without a fixed place for a logical page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AllocationChoice {
    /// The next die that is free takes the oldest waiting write.
    Dynamic,
}

/// How the plane of a die is chosen when the allocation does not fix it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlaneChoice {
    /// The plane with most free pages; ties go round.
    MostFree,
    /// Each plane in turn.
    RoundRobin,
}

macro_rules! allocation_orders {
    ($($name:ident $text:literal)*) => {
        /// An order of channel (C), way (W), die (D) and plane (P): the first letter varies
        /// fastest over successive logical pages. The names follow Tavakkol et al. (TOMPECS 2016).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[allow(missing_docs, reason = "the names say it")]
        pub enum AllocationOrder {
            $(#[serde(rename = $text)] $name,)*
        }

        impl AllocationOrder {
            /// All 24 orders.
            pub const ALL: [Self; 24] = [$(Self::$name),*];

            /// The four letters.
            pub const fn letters(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }
    };
}

allocation_orders! {
    Cwdp "CWDP" Cwpd "CWPD" Cdwp "CDWP" Cdpw "CDPW" Cpwd "CPWD" Cpdw "CPDW"
    Wcdp "WCDP" Wcpd "WCPD" Wdcp "WDCP" Wdpc "WDPC" Wpcd "WPCD" Wpdc "WPDC"
    Dcwp "DCWP" Dcpw "DCPW" Dwcp "DWCP" Dwpc "DWPC" Dpcw "DPCW" Dpwc "DPWC"
    Pcwd "PCWD" Pcdw "PCDW" Pwcd "PWCD" Pwdc "PWDC" Pdcw "PDCW" Pdwc "PDWC"
}

/// Whether host writes and collected pages fill separate open blocks or the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Frontiers {
    /// Separate open blocks: collected (colder) pages do not mix with host writes.
    Separate,
    /// One open block for both.
    Shared,
}

/// Order in which erased blocks are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FreeBlockOrder {
    /// First erased, first used (round robin).
    Fifo,
    /// Least erased first: dynamic wear levelling.
    LeastWorn,
}

choice! {
    /// A page of metadata at the end of every block.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SummaryPage {
        /// Every page holds data.
        None,
        /// The last page is programmed with a summary right after the last data page.
        LastPage {
            /// Bytes that cross the channel for the summary.
            transfer: Size,
        },
    }
}
