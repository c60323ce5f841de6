//! Keys that came after the first cases were drawn. They are drawn from a stream of their own, so that all else of a
//! case stays what it was.

use copyback::config::quantity::Share;
use copyback::config::{
    Config, GcEnd, LogicalBlocks, Margin, PipelineOrder, Preemption, ThresholdScope, Width,
};

use crate::draw::Draw;

/// Changes `config`, of the case of this number.
pub fn draw(config: &mut Config, number: u64, name: &str) {
    let mut draw = Draw::new(number, &format!("{name}/newer"));
    if draw.chance(0.4) {
        config.ssd.gc.threshold_scope = draw.of(&[ThresholdScope::Die, ThresholdScope::Drive]);
    }
    if draw.chance(0.3) {
        let margin = Margin::OfThreshold { of_threshold: Share(draw.share()) };
        if let Width::Threshold { margin: of_width, .. } = &mut config.ssd.gc.width {
            *of_width = margin;
        }
        config.array.protocol.target_margin = margin;
    }
    if draw.chance(0.3) {
        config.ssd.gc.end = GcEnd::OneVictim;
    }
    if let Preemption::SemiPreemptive { pipeline_order, reorder_writes, .. } =
        &mut config.ssd.gc.preemption
    {
        *reorder_writes = draw.chance(0.3);
        *pipeline_order = draw.of(&[
            PipelineOrder::CollectionFollows,
            PipelineOrder::HostFollows,
            PipelineOrder::Either,
            PipelineOrder::Joins,
        ]);
    }
    if draw.chance(0.6) {
        config.ssd.ftl.logical_blocks = logical_blocks(&mut draw, config.ssd.stripe_width());
    }
}

/// Not the default, of a drive of so many planes.
fn logical_blocks(draw: &mut Draw, planes: u64) -> LogicalBlocks {
    let divisors = (1..=planes as u32).filter(|width| planes.is_multiple_of((*width).into()));
    let planes = draw.of(&divisors.collect::<Vec<_>>());
    draw.of(&[LogicalBlocks::Contiguous, LogicalBlocks::Superpage { planes }])
}
